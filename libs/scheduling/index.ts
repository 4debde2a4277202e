export * from './canonical-device';
export * from './interactive-limits';
export * from './requests';
export * from './run-queue';
export * from './scheduler-state';
export * from './slot-limits';
export * from './slots';
