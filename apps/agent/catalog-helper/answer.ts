/** What the helper finds out about the node types and runtimes of this machine. */
export interface CatalogAnswer {
  readonly catalog_hash: string;
  /** Type -> SHA-256 of the canonical JSON of its definition. */
  readonly node_type_hashes: Readonly<Record<string, string>>;
  readonly fingerprint: Readonly<Record<string, unknown>>;
  /** Devices that a runtime serves, as providers name them: `cpu`, `cuda:*`. */
  readonly served: readonly string[];
  /** Custom node files that cannot be used, in words. */
  readonly problems: readonly string[];
}

/** What the helper is asked, as the argument of its program. */
export interface CatalogQuestion {
  readonly customNodes: string;
}

/** The pipe on which it answers: what node files print goes elsewhere. */
export const ANSWER_FD = 3;
