import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { layerConfigs } from './tools/layers.mjs';

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'coverage/', '.codefyui/', '.nx/', '**/fixtures/'] },
  // Rules are kept, not switched off in place.
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['console', 'performance', 'process', 'URL', 'clearTimeout', 'setTimeout'].map((name) => [name, 'readonly']),
      ),
    },
    rules: {
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^\\$', ignoreRestSiblings: true }],
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['console', 'process', 'require', 'module', '__dirname'].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      eqeqeq: ['error', 'always'],
      'max-lines': ['error', { max: 600 }],
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  // Generated: as long as the interface it describes.
  { files: ['libs/api-client/schema.ts'], rules: { 'max-lines': 'off' } },
  ...layerConfigs(),
);
