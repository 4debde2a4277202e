export * from './errors';
export * from './events';
export * from './graph';
export * from './ports';
export * from './run-host';
export * from './run-options';
