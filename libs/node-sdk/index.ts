export * from './node';
export * from './values';
