export * from './output-store';
export * from './output-writer';
export * from './recorded-port';
export * from './slices';
export * from './statistics';
export * from './views';
