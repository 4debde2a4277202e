export * from './entry';
export * from './machine-id';
export * from './make-folder';
export * from './oom-watch';
export * from './process-start';
export * from './single-instance';
export * from './system-words';
