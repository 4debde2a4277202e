export * from './constants';
export * from './frames';
export * from './storage';
