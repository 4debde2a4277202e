export * from './observer';
export * from './plan-types';
