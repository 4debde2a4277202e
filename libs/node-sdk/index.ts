export * from './define-node';
export * from './input-reader';
export * from './kinds';
export * from './node';
export * from './node-label';
export * from './param';
export * from './param-reader';
export * from './values';
