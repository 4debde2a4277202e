export * from './builtin-presets';
export * from './preset-folder';
export * from './preset-registry';
