export * from './custom-node-folder';
