export * from './errors';
export * from './handles';
export * from './layer-def';
export * from './runtime';
export * from './training';
export * from './values';
export * from './vocabulary';
