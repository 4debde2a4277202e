export * from './execution-cache';
export { bytesOf } from './handles';
export * from './module-store';
export * from './output-recorder';
export { Redactor, secretsOf } from './redaction';
export * from './request';
export * from './run-plan';
export * from './seeds';
