export * from './builtin-nodes';
export * from './catalogue';
export * from './custom-nodes';
export * from './node-list';
export * from './presets';
export * from './provenance';
export * from './registry';
export * from './specified-types';
