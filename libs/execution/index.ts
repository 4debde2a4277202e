export * from './executor';
export * from './sinks';
