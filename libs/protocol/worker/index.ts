export * from './check-agent-frame';
export * from './check-server-frame';
export * from './codec';
export * from './constants';
export * from './frames';
export * from './pipe';
export * from './storage';
