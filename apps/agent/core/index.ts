export * from './agent';
export * from './world';
