import type { RunFolders } from '../run-options';

/** Where the files of an assigned run lie. */
export type RunStorage =
  /** On the control plane's own machine: its folders, lent. The agent's own node files count, not those named here. */
  | { readonly backend: 'local'; readonly folders: RunFolders }
  /** In a folder that both machines share. */
  | { readonly backend: 'mount'; readonly label: string }
  /** With the control plane, which sends inputs and takes what the run writes. */
  | { readonly backend: 'transfer'; readonly inputs: readonly StoredInput[] }
  | {
      readonly backend: 's3';
      readonly inputs: readonly (StoredInput & { readonly key: string })[];
      readonly s3: {
        readonly endpoint: string | null;
        readonly region: string;
        readonly bucket: string;
        /** Of all the run's objects. */
        readonly prefix: string;
        readonly credentials: Readonly<Record<string, unknown>>;
      };
    };

/** A file that a run reads. */
export interface StoredInput {
  /** Relative to the data folder. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}
