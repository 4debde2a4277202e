export * from './graph';
export * from './observer';
export * from './plan-types';
export * from './run';
