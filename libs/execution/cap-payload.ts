import type { ElidedOutput, OutputEntry } from '@cdui/protocol';

/** `CODEFYUI_RUN_EVENT_PAYLOAD_CAP_BYTES`. */
export const DEFAULT_PAYLOAD_CAP_BYTES = 131_072;

const TRUNCATED = '... [truncated]';
/** Strings shorter than this are left alone. */
const SHORTEST_CUT = 64;
/** Members of any shape and size that nodes report. */
const DATA = ['meta', 'params'] as const;
/** What says which event it was, kept when nothing else fits. */
const IDENTIFYING = ['node_id', 'inner_id', 'status', 'run_id', 'reason', 'error_type', 'kind', 'code'] as const;

type Payload = Readonly<Record<string, unknown>>;

/**
 * The payload as it is stored: plain JSON of at most `capBytes`. Numbers that JSON lacks become null. What is too large loses, in
 * this order, the content of its biggest outputs (an `ElidedOutput` stands in their place), the ends of long strings, the data of an
 * artifact or a warning, and at last everything but what identifies it. The text of an error goes last and is cut, never dropped. Capping twice changes nothing.
 */
export function capPayload<P extends object>(payload: P, capBytes: number = DEFAULT_PAYLOAD_CAP_BYTES): P {
  const plain = withoutNonFinite(payload) as Payload;
  const bytes = jsonBytes(plain);
  if (bytes <= capBytes) return plain as P;
  const elided = elideOutputs(plain, capBytes);
  const cut = jsonBytes(elided) <= capBytes ? elided : cutStrings(elided, capBytes);
  if (jsonBytes(cut) <= capBytes) return cut as P;
  const bare = cutStrings(elideData(elided, capBytes), capBytes);
  return (jsonBytes(bare) <= capBytes ? bare : remains(plain, bytes, capBytes)) as P;
}

/**
 * The JSON text of the payload, capped: `JSON.stringify(capPayload(payload, capBytes))`, but what is small enough (nearly everything) is gone through
 * only once.
 */
export function capPayloadText(payload: object, capBytes: number = DEFAULT_PAYLOAD_CAP_BYTES): string {
  const text = JSON.stringify(payload);
  // No character of a string takes more than three bytes.
  if (text.length * 3 <= capBytes || new TextEncoder().encode(text).length <= capBytes) return text;
  return JSON.stringify(capPayload(payload, capBytes));
}

/** Bytes of the value's JSON text in UTF-8. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? '').length;
}

/** The same value when it holds no such number: most do not, and copies cost. */
function withoutNonFinite(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    const copy = value.map(withoutNonFinite);
    return copy.some((item, index) => item !== value[index]) ? copy : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const copy = entries.map(([key, item]) => [key, withoutNonFinite(item)] as const);
  return copy.some(([, item], index) => item !== entries[index]?.[1]) ? Object.fromEntries(copy) : value;
}

function elideOutputs(payload: Payload, capBytes: number): Payload {
  if (!Array.isArray(payload['outputs'])) return payload;
  const outputs = [...(payload['outputs'] as readonly OutputEntry[])];
  const sizes = outputs.map((entry, index) => ({ index, bytes: jsonBytes(entry) })).sort((a, b) => b.bytes - a.bytes);
  let total = jsonBytes(payload);
  for (const { index, bytes } of sizes) {
    if (total <= capBytes) break;
    const entry = outputs[index] as OutputEntry;
    const marker: ElidedOutput = {
      output_kind: entry.output_kind,
      elided: true,
      bytes,
      cap_bytes: capBytes,
      ...(entry.port !== undefined && { port: entry.port }),
    };
    const saved = bytes - jsonBytes(marker);
    if (saved <= 0) continue;
    // The marker takes the entry's place in the payload as stored; readers tell it by `isElided`.
    outputs[index] = marker as unknown as OutputEntry;
    total -= saved;
  }
  return { ...payload, outputs };
}

/** Puts a marker in the place of the data of an artifact or a warning: without the rest of its members it would be none. */
function elideData(payload: Payload, capBytes: number): Payload {
  const markers = DATA.filter((key) => typeof payload[key] === 'object' && payload[key] !== null).map((key) => {
    const marker = { elided: true, bytes: jsonBytes(payload[key]), cap_bytes: capBytes };
    return [key, marker] as const;
  });
  return { ...payload, ...Object.fromEntries(markers) };
}

/** Cuts strings to ever shorter lengths until the payload fits; an error's text only when the others alone do not suffice. */
function cutStrings(payload: Payload, capBytes: number): Payload {
  const { error, ...rest } = payload;
  let cut: Payload = payload;
  for (let length = capBytes; length >= SHORTEST_CUT; length = Math.floor(length / 2)) {
    cut = { ...(cutAll(rest, length) as Payload), ...(error !== undefined && { error }) };
    if (jsonBytes(cut) <= capBytes) return cut;
  }
  return typeof error === 'string' ? withError(cut, error, capBytes) : cut;
}

function cutAll(value: unknown, length: number): unknown {
  if (typeof value === 'string') return cutString(value, length);
  if (Array.isArray(value)) return value.map((item) => cutAll(item, length));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutAll(item, length)]));
}

function cutString(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.max(0, length - TRUNCATED.length);
  // Half of a surrogate pair would be no text any more.
  const whole = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return text.slice(0, whole) + TRUNCATED;
}

/** As much of the error's text as fits beside the rest. */
function withError(rest: Payload, error: string, capBytes: number): Payload {
  let [low, high] = [0, error.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonBytes({ ...rest, error: cutString(error, middle) }) <= capBytes) low = middle;
    else high = middle - 1;
  }
  return { ...rest, error: cutString(error, low) };
}

function remains(payload: Payload, bytes: number, capBytes: number): Payload {
  const kept: Record<string, unknown> = { elided: true, bytes, cap_bytes: capBytes };
  for (const key of IDENTIFYING) {
    const value = payload[key];
    if (typeof value === 'string') kept[key] = cutString(value, SHORTEST_CUT * 4);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[key] = value;
  }
  const { error } = payload;
  return typeof error === 'string' ? withError(kept, error, capBytes) : kept;
}
