export { isRunId, KEPT_RUNS, OUTPUTS_FOLDER } from './folders';
export * from './output-store';
export * from './output-writer';
export * from './recorded-port';
export * from './slices';
export * from './statistics';
export * from './views';
