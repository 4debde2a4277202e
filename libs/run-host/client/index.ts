export * from './flow';
export * from './in-process-executor';
export * from './run-hosts';
export * from './stop-word';
