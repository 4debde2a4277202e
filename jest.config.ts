/** @jest-config-loader esbuild-register */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from 'jest';

const root = __dirname;

// Jest resolves the aliases itself (below), so that jest.mock() sees the same names as the code; the compiler must leave them alone.
const swc = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));
delete swc.$schema;
delete swc.jsc.baseUrl;
delete swc.jsc.paths;

const config: Config = {
  rootDir: root,
  roots: ['apps', 'libs', 'testing', 'tests', 'tools']
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder)),
  testMatch: ['**/*.spec.ts'],
  testEnvironment: join(root, 'testing/node-environment.ts'),
  transform: { '^.+\\.(ts|mjs)$': ['@swc/jest', { ...swc, sourceMaps: 'inline', swcrc: false }] },
  resolver: join(root, 'testing/resolver.cjs'),
  moduleNameMapper: { '^@cdui/(.*)$': '<rootDir>/libs/$1' },
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.codefyui/'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
  testTimeout: 60_000,
};

export default config;
