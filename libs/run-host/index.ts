export * from './catalogue';
export * from './check-graph';
export * from './client';
export * from './host';
export * from './providers';
export * from './provenance';
export * from './settings';
export * from './sleep';
