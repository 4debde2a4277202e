export * from './entry';
export * from './make-folder';
export * from './process-start';
export * from './single-instance';
export * from './system-words';
