import type { NodeDefinition, PresetDefinition, ValidationResult } from '@cdui/protocol';

/** A file of the custom-node folder that could not be used. */
export interface BrokenFile {
  readonly file: string;
  readonly message: string;
}

export interface CatalogueAnswer {
  readonly hash: string;
  readonly definitions: readonly NodeDefinition[];
  readonly presets: readonly PresetDefinition[];
  readonly broken: readonly BrokenFile[];
}

/** What the catalogue thread answers: name -> [arguments, answer]. All of it plain data. */
export interface CatalogCalls {
  catalogue: { args: []; answer: CatalogueAnswer };
  reload: { args: []; answer: CatalogueAnswer };
  validate: { args: [graph: unknown]; answer: ValidationResult };
}

export type CatalogCall = keyof CatalogCalls;

export interface CatalogRequest {
  readonly id: number;
  readonly call: CatalogCall;
  readonly args: readonly unknown[];
}

export type CatalogResponse =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  | { readonly id: number; readonly ok: false; readonly code: string; readonly message: string };

/** Folders the thread loads from. */
export interface CatalogThreadData {
  readonly customNodesDir: string;
  readonly presetsDir: string;
}
