export * from './entry';
export * from './make-folder';
