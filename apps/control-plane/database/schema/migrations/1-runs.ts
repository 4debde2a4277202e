import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The first schema: runs with their logs, and what workers will need. */
export class Runs1764500000001 implements MigrationInterface {
  name = 'Runs1764500000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('There is nothing before the first schema');
  }
}

const STATEMENTS = [
  // The snapshot stands last: whoever reads a row without it never touches its pages.
  `CREATE TABLE exec_runs (
    id text PRIMARY KEY NOT NULL,
    name text NOT NULL,
    lane text NOT NULL,
    options text NOT NULL,
    status text NOT NULL,
    error text,
    queue_key text NOT NULL,
    queue_seq integer NOT NULL,
    created_at integer NOT NULL,
    started_at integer,
    finished_at integer,
    worker_id text,
    devices text,
    recorded_seq integer NOT NULL DEFAULT (0),
    git_commit text,
    git_dirty integer,
    plugin_pins text,
    sweep_id text,
    sweep_variant integer,
    retry_of text,
    had_secrets integer NOT NULL DEFAULT (0),
    fingerprint_digest text,
    execution_facts text,
    graph_snapshot text NOT NULL
  )`,
  `CREATE INDEX exec_runs_by_creation ON exec_runs (created_at, queue_seq)`,
  `CREATE INDEX exec_runs_by_status ON exec_runs (status, created_at, queue_seq)`,
  `CREATE INDEX exec_runs_ended ON exec_runs (finished_at, queue_seq, id, status)
    WHERE status IN ('succeeded', 'failed', 'cancelled', 'interrupted')`,
  // What a search by text goes through: rows with their graphs are a hundred times as much.
  `CREATE INDEX exec_runs_by_name ON exec_runs (name, id)`,
  `CREATE INDEX exec_runs_by_queue_seq ON exec_runs (queue_seq)`,
  `CREATE INDEX exec_runs_by_sweep ON exec_runs (sweep_id) WHERE sweep_id IS NOT NULL`,
  `CREATE INDEX exec_runs_by_worker ON exec_runs (worker_id) WHERE worker_id IS NOT NULL`,
  // Clustered by run: an event costs one tree, and a run's log is read from one place.
  `CREATE TABLE exec_run_events (
    run_id text NOT NULL,
    cursor integer NOT NULL,
    type text NOT NULL,
    payload text NOT NULL,
    ts integer NOT NULL,
    PRIMARY KEY (run_id, cursor)
  ) WITHOUT ROWID`,
  `CREATE TABLE exec_run_metrics (
    run_id text NOT NULL,
    seq integer NOT NULL,
    node_id text NOT NULL,
    name text NOT NULL,
    step integer NOT NULL,
    value real,
    ts integer NOT NULL,
    PRIMARY KEY (run_id, seq)
  ) WITHOUT ROWID`,
  // The last point of each series, so that names and last values need no walk through all points.
  `CREATE TABLE exec_run_series (
    run_id text NOT NULL,
    node_id text NOT NULL,
    name text NOT NULL,
    first_seq integer NOT NULL,
    step integer NOT NULL,
    value real,
    PRIMARY KEY (run_id, node_id, name)
  ) WITHOUT ROWID`,
  `CREATE TABLE exec_run_artifacts (
    run_id text NOT NULL,
    seq integer NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    meta text NOT NULL,
    node_id text NOT NULL,
    backend text NOT NULL,
    mount_label text,
    object_key text,
    created_at integer NOT NULL,
    PRIMARY KEY (run_id, seq)
  ) WITHOUT ROWID`,
  `CREATE UNIQUE INDEX exec_run_artifacts_by_id ON exec_run_artifacts (run_id, id)`,
  `CREATE TABLE exec_run_provenance (
    run_id text NOT NULL,
    node_id text NOT NULL,
    record text NOT NULL,
    PRIMARY KEY (run_id, node_id)
  ) WITHOUT ROWID`,
  `CREATE TABLE exec_run_fingerprints (
    digest text PRIMARY KEY NOT NULL,
    document text NOT NULL
  ) WITHOUT ROWID`,
  // Deleted runs whose logs are still being removed, piece by piece.
  `CREATE TABLE exec_run_purges (run_id text PRIMARY KEY NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE exec_sequences (
    name text PRIMARY KEY NOT NULL,
    value integer NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE file_hashes (
    path text PRIMARY KEY NOT NULL,
    size integer NOT NULL,
    mtime_ns text NOT NULL,
    inode text NOT NULL,
    sha256 text NOT NULL,
    hashed_at integer NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE workers (
    id text PRIMARY KEY NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    token_sha256 text,
    token_prefix text,
    draining integer NOT NULL DEFAULT (0),
    devices text,
    mounts text,
    capabilities text,
    shared_devices text,
    platform text,
    version text,
    protocol_version integer,
    fingerprint_digest text,
    catalog_hash text,
    address text,
    last_reject text,
    created_at integer NOT NULL,
    connected_at integer,
    last_seen_at integer,
    revoked_at integer
  ) WITHOUT ROWID`,
  `CREATE UNIQUE INDEX workers_by_name ON workers (name) WHERE revoked_at IS NULL`,
  `CREATE UNIQUE INDEX workers_by_token ON workers (token_sha256) WHERE token_sha256 IS NOT NULL`,
  `CREATE TABLE worker_enrollments (
    id text PRIMARY KEY NOT NULL,
    token_sha256 text NOT NULL,
    worker_id text REFERENCES workers (id) ON DELETE CASCADE,
    name text,
    created_at integer NOT NULL,
    expires_at integer NOT NULL,
    used_at integer,
    used_by text
  ) WITHOUT ROWID`,
  `CREATE UNIQUE INDEX worker_enrollments_by_token ON worker_enrollments (token_sha256)`,
  `CREATE INDEX worker_enrollments_by_worker ON worker_enrollments (worker_id) WHERE worker_id IS NOT NULL`,
];
