export * from './cap-payload';
export * from './executor';
export * from './metrics';
export * from './node-events';
export * from './node-report';
export * from './sinks';
export * from './summaries';
