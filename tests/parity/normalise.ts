import { createHash } from 'node:crypto';
import { PNG as PNGImage } from 'pngjs';
import type { MetricPoint, RunEventView } from '@cdui/protocol';

/** An event without what differs from run to run. */
export interface NormalEvent {
  readonly type: string;
  readonly payload: unknown;
}

/** Members that are measured times, and when they were. */
const TIMES = /(^|_)(seconds|duration|elapsed|eta|ts|time|ms|per_s|per_second)$/;

/**
 * What a run stored, without what two equal runs may differ in: its id, times and paths are named alike; metric events of a node at work are joined,
 * before whatever ends its work, and frames about single batches left out, because both are cut by time.
 */
export function normalise(
  events: readonly RunEventView[],
  { runId, folder }: { readonly runId: string; readonly folder: string },
): readonly NormalEvent[] {
  const plain = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string' && value.startsWith(PNG)) return pictureOf(value);
    if (typeof value === 'string') return value.replaceAll(runId, '<run>').replaceAll(folder, '<folder>');
    if (typeof value === 'number' && TIMES.test(key)) return '<time>';
    if (Array.isArray(value)) return value.map((item) => plain(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member, name)]));
  };
  const normal: NormalEvent[] = [];
  let metrics: { readonly node: string | undefined; readonly points: MetricPoint[] } | null = null;
  const close = (): void => {
    if (metrics) normal.push({ type: 'metric', payload: { points: metrics.points } });
    metrics = null;
  };
  for (const { type, payload } of events) {
    if (isBatchFrame(type, payload)) continue;
    if (type === 'metric') {
      if (metrics?.node !== nodeOf(payload)) close();
      metrics ??= { node: nodeOf(payload), points: [] };
      metrics.points.push(...points(payload));
      continue;
    }
    if (!isOnTheWay(type, payload, metrics?.node)) close();
    normal.push({ type, payload: plain(payload) });
  }
  close();
  return normal;
}

/** How every PNG begins, as base64. */
const PNG = 'iVBORw0KGgo';

/** A picture by its pixels: libraries that compress them differ. One that was cut short has none. */
function pictureOf(base64: string): string {
  try {
    const { width, height, data } = PNGImage.sync.read(Buffer.from(base64, 'base64'));
    return `<picture ${width}x${height} ${createHash('sha256').update(data).digest('hex')}>`;
  } catch {
    return '<picture, cut short>';
  }
}

/** Whether the node says this while it works: its metrics may come before or after. */
function isOnTheWay(type: string, payload: unknown, node: string | undefined): boolean {
  const { node_id: id, status } = (payload ?? {}) as { readonly node_id?: string; readonly status?: string };
  return node !== undefined && id === node && (type === 'artifact' || status === 'progress');
}

function points(payload: unknown): readonly MetricPoint[] {
  return (payload as { readonly points: readonly MetricPoint[] }).points;
}

function nodeOf(payload: unknown): string | undefined {
  return points(payload)[0]?.node_id;
}

function isBatchFrame(type: string, payload: unknown): boolean {
  if (type !== 'node_status') return false;
  const { outputs } = payload as { readonly outputs?: readonly { readonly progress?: { readonly event?: unknown } }[] };
  return outputs !== undefined && outputs.length > 0 && outputs.every(({ progress }) => progress?.event === 'batch');
}

/** Numbers with a fraction may differ by this share: processors and thread counts do. */
const TOLERANCE = 1e-4;
/** Below this they are nothing but the rest of a subtraction. */
const NOTHING = 1e-9;

/** Where two values differ, as `path: one != other`; all else must be equal to the letter. */
export function differences(actual: unknown, expected: unknown, path = ''): readonly string[] {
  if (typeof actual === 'number' && typeof expected === 'number') {
    const close = Math.abs(actual - expected) <= Math.max(NOTHING, TOLERANCE * Math.abs(expected));
    const whole = Number.isInteger(actual) && Number.isInteger(expected);
    return actual === expected || (close && !whole) ? [] : [`${path}: ${actual} != ${expected}`];
  }
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) {
    return actual === expected ? [] : [`${path}: ${JSON.stringify(actual)} != ${JSON.stringify(expected)}`];
  }
  if (Array.isArray(actual) !== Array.isArray(expected)) return [`${path}: one is a list, the other none`];
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...names].flatMap((name) =>
    differences(
      (actual as Readonly<Record<string, unknown>>)[name],
      (expected as Readonly<Record<string, unknown>>)[name],
      `${path}/${name}`,
    ),
  );
}
