export * from './canonical-json';
export * from './errors';
export * from './events';
export * from './graph';
export * from './port-facts';
export * from './ports';
export * from './run-host';
export * from './run-options';
