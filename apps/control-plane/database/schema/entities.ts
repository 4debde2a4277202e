import { Column, Entity, PrimaryColumn } from 'typeorm';

/*
 * The tables as TypeORM sees them, for what is not hot: each column with its type, and nothing else. Tables are made by the migrations, which also
 * hold the indexes; a test compares the two.
 */

/** A run. Times of all tables are milliseconds since the epoch. */
@Entity('exec_runs')
export class ExecRun {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  lane!: string;

  @Column({ type: 'text' })
  options!: string;

  @Column({ type: 'text' })
  status!: string;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  @Column({ name: 'queue_key', type: 'text' })
  queueKey!: string;

  @Column({ name: 'queue_seq', type: 'integer' })
  queueSeq!: number;

  @Column({ name: 'created_at', type: 'integer' })
  createdAt!: number;

  @Column({ name: 'started_at', type: 'integer', nullable: true })
  startedAt!: number | null;

  @Column({ name: 'finished_at', type: 'integer', nullable: true })
  finishedAt!: number | null;

  @Column({ name: 'worker_id', type: 'text', nullable: true })
  workerId!: string | null;

  @Column({ type: 'text', nullable: true })
  devices!: string | null;

  @Column({ name: 'recorded_seq', type: 'integer', default: 0 })
  recordedSeq!: number;

  @Column({ name: 'git_commit', type: 'text', nullable: true })
  gitCommit!: string | null;

  @Column({ name: 'git_dirty', type: 'integer', nullable: true })
  gitDirty!: number | null;

  @Column({ name: 'plugin_pins', type: 'text', nullable: true })
  pluginPins!: string | null;

  @Column({ name: 'sweep_id', type: 'text', nullable: true })
  sweepId!: string | null;

  @Column({ name: 'sweep_variant', type: 'integer', nullable: true })
  sweepVariant!: number | null;

  @Column({ name: 'retry_of', type: 'text', nullable: true })
  retryOf!: string | null;

  @Column({ name: 'had_secrets', type: 'integer', default: 0 })
  hadSecrets!: number;

  @Column({ name: 'fingerprint_digest', type: 'text', nullable: true })
  fingerprintDigest!: string | null;

  @Column({ name: 'execution_facts', type: 'text', nullable: true })
  executionFacts!: string | null;

  @Column({ name: 'graph_snapshot', type: 'text' })
  graphSnapshot!: string;
}

/** An event of a run; cursors are from 1 and have no gaps. */
@Entity('exec_run_events')
export class ExecRunEvent {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ type: 'integer' })
  cursor!: number;

  @Column({ type: 'text' })
  type!: string;

  @Column({ type: 'text' })
  payload!: string;

  @Column({ type: 'integer' })
  ts!: number;
}

/** A point of a metric, in the order of recording. */
@Entity('exec_run_metrics')
export class ExecRunMetric {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ type: 'integer' })
  seq!: number;

  @Column({ name: 'node_id', type: 'text' })
  nodeId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'integer' })
  step!: number;

  @Column({ type: 'real', nullable: true })
  value!: number | null;

  @Column({ type: 'integer' })
  ts!: number;
}

/** The last point of a metric of a node. */
@Entity('exec_run_series')
export class ExecRunSeries {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ name: 'node_id', type: 'text' })
  nodeId!: string;

  @PrimaryColumn({ type: 'text' })
  name!: string;

  @Column({ name: 'first_seq', type: 'integer' })
  firstSeq!: number;

  @Column({ type: 'integer' })
  step!: number;

  @Column({ type: 'real', nullable: true })
  value!: number | null;
}

/** A file that a run made. */
@Entity('exec_run_artifacts')
export class ExecRunArtifact {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ type: 'integer' })
  seq!: number;

  @Column({ type: 'text' })
  id!: string;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ type: 'text' })
  path!: string;

  @Column({ type: 'text' })
  meta!: string;

  @Column({ name: 'node_id', type: 'text' })
  nodeId!: string;

  @Column({ type: 'text' })
  backend!: string;

  @Column({ name: 'mount_label', type: 'text', nullable: true })
  mountLabel!: string | null;

  @Column({ name: 'object_key', type: 'text', nullable: true })
  objectKey!: string | null;

  @Column({ name: 'created_at', type: 'integer' })
  createdAt!: number;
}

/** Where a node of a run had its code from, as JSON. */
@Entity('exec_run_provenance')
export class ExecRunProvenance {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;

  @PrimaryColumn({ name: 'node_id', type: 'text' })
  nodeId!: string;

  @Column({ type: 'text' })
  record!: string;
}

/** What results may depend on, shared by all runs that it was the same for. */
@Entity('exec_run_fingerprints')
export class ExecRunFingerprint {
  @PrimaryColumn({ type: 'text' })
  digest!: string;

  @Column({ type: 'text' })
  document!: string;
}

/** A deleted run whose log is still being removed. */
@Entity('exec_run_purges')
export class ExecRunPurge {
  @PrimaryColumn({ name: 'run_id', type: 'text' })
  runId!: string;
}

/** The highest number that was given of a kind, where rows that had it may be gone. */
@Entity('exec_sequences')
export class ExecSequence {
  @PrimaryColumn({ type: 'text' })
  name!: string;

  @Column({ type: 'integer' })
  value!: number;
}

/** The hash of a file, as long as size, time and inode are the same. */
@Entity('file_hashes')
export class FileHash {
  @PrimaryColumn({ type: 'text' })
  path!: string;

  @Column({ type: 'integer' })
  size!: number;

  @Column({ name: 'mtime_ns', type: 'text' })
  mtimeNs!: string;

  @Column({ type: 'text' })
  inode!: string;

  @Column({ type: 'text' })
  sha256!: string;

  @Column({ name: 'hashed_at', type: 'integer' })
  hashedAt!: number;
}

/** A worker that enrolled. */
@Entity('workers')
export class Worker {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ name: 'token_sha256', type: 'text', nullable: true })
  tokenSha256!: string | null;

  @Column({ name: 'token_prefix', type: 'text', nullable: true })
  tokenPrefix!: string | null;

  @Column({ type: 'integer', default: 0 })
  draining!: number;

  @Column({ type: 'text', nullable: true })
  devices!: string | null;

  @Column({ type: 'text', nullable: true })
  mounts!: string | null;

  @Column({ type: 'text', nullable: true })
  capabilities!: string | null;

  @Column({ name: 'shared_devices', type: 'text', nullable: true })
  sharedDevices!: string | null;

  @Column({ type: 'text', nullable: true })
  platform!: string | null;

  @Column({ type: 'text', nullable: true })
  version!: string | null;

  @Column({ name: 'protocol_version', type: 'integer', nullable: true })
  protocolVersion!: number | null;

  @Column({ name: 'fingerprint_digest', type: 'text', nullable: true })
  fingerprintDigest!: string | null;

  @Column({ name: 'catalog_hash', type: 'text', nullable: true })
  catalogHash!: string | null;

  @Column({ type: 'text', nullable: true })
  address!: string | null;

  @Column({ name: 'last_reject', type: 'text', nullable: true })
  lastReject!: string | null;

  @Column({ name: 'created_at', type: 'integer' })
  createdAt!: number;

  @Column({ name: 'connected_at', type: 'integer', nullable: true })
  connectedAt!: number | null;

  @Column({ name: 'last_seen_at', type: 'integer', nullable: true })
  lastSeenAt!: number | null;

  @Column({ name: 'revoked_at', type: 'integer', nullable: true })
  revokedAt!: number | null;
}

/** A one-time token, of which only the hash is known. */
@Entity('worker_enrollments')
export class WorkerEnrollment {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'token_sha256', type: 'text' })
  tokenSha256!: string;

  @Column({ name: 'worker_id', type: 'text', nullable: true })
  workerId!: string | null;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ name: 'created_at', type: 'integer' })
  createdAt!: number;

  @Column({ name: 'expires_at', type: 'integer' })
  expiresAt!: number;

  @Column({ name: 'used_at', type: 'integer', nullable: true })
  usedAt!: number | null;

  @Column({ name: 'used_by', type: 'text', nullable: true })
  usedBy!: string | null;
}

export const ENTITIES = [
  ExecRun,
  ExecRunEvent,
  ExecRunMetric,
  ExecRunSeries,
  ExecRunArtifact,
  ExecRunProvenance,
  ExecRunFingerprint,
  ExecRunPurge,
  ExecSequence,
  FileHash,
  Worker,
  WorkerEnrollment,
] as const;
