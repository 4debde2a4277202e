export * from './catalogue';
export * from './check-graph';
export * from './client';
export * from './host';
export * from './providers';
export * from './settings';
export * from './sleep';
