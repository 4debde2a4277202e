export * from './execution-cache';
export { Redactor, secretsOf } from './redaction';
export * from './request';
export * from './run-plan';
export * from './seeds';
