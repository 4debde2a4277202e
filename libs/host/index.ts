export * from './entry';
export * from './fingerprint';
export * from './make-folder';
export * from './process-start';
export * from './program-version';
export * from './single-instance';
export * from './system-words';
