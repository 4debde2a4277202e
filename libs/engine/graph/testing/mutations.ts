import * as fc from 'fast-check';
import type { GraphFile } from '@cdui/protocol';

/**
 * Copies of the graphs with a few changes each: values replaced, removed, duplicated, swapped with others of the same file, renamed
 * keys, ids and types crossed over, wrong types, huge numbers, hostile keys and deep nesting.
 */
export function mutated(graphs: readonly GraphFile[]): fc.Arbitrary<unknown> {
  const texts = graphs.map((graph) => JSON.stringify(graph));
  return fc
    .record({
      text: fc.constantFrom(...texts),
      changes: fc.array(
        fc.record({
          at: fc.nat(),
          other: fc.nat(),
          kind: fc.nat(KINDS.length - 1),
          value: hostileValue,
          key: hostileKey,
        }),
        { minLength: 0, maxLength: 4 },
      ),
    })
    .map(({ text, changes }) => {
      let root: unknown = JSON.parse(text);
      // Places in a part that an earlier change took away are harmless: that change is then the only one there.
      const slots = slotsOf(root);
      for (const change of changes) root = apply(root, slots, change);
      return root;
    });
}

interface Change {
  readonly at: number;
  readonly other: number;
  readonly kind: number;
  readonly value: unknown;
  readonly key: string;
}

/** A place in the tree: its holder and the key there. */
interface Slot {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

const KINDS = [
  'replace',
  'remove',
  'duplicate',
  'copy',
  'swap',
  'rename',
  'insert',
  'sameKey',
  'sameKey',
  'sameKey',
  'copyNode',
  'root',
] as const;

function apply(root: unknown, slots: readonly Slot[], change: Change): unknown {
  const kind = KINDS[change.kind];
  const slot = slots[change.at % slots.length] as Slot;
  const other = slots[change.other % slots.length] as Slot;
  const value = slot.holder[slot.key];
  switch (kind) {
    case 'replace':
      slot.holder[slot.key] = clone(change.value);
      break;
    case 'remove':
      if (Array.isArray(slot.holder)) slot.holder.splice(Number(slot.key), 1);
      else delete slot.holder[slot.key];
      break;
    case 'duplicate':
      if (Array.isArray(slot.holder)) slot.holder.push(clone(value));
      else put(slot.holder, change.key, clone(value));
      break;
    case 'copy':
      slot.holder[slot.key] = clone(other.holder[other.key]);
      break;
    case 'swap': {
      const [mine, theirs] = [clone(value), clone(other.holder[other.key])];
      other.holder[other.key] = mine;
      slot.holder[slot.key] = theirs;
      break;
    }
    case 'rename':
      if (Array.isArray(slot.holder)) break;
      delete slot.holder[slot.key];
      put(slot.holder, change.key, value);
      break;
    case 'insert':
      if (Array.isArray(value)) value.push(clone(change.value));
      else if (typeof value === 'object' && value !== null)
        put(value as Record<string, unknown>, change.key, clone(change.value));
      break;
    // The changes that keep a graph plausible: an id, a type or a handle becomes another one of the same file.
    case 'sameKey': {
      const peers = slots.filter((peer) => peer.key === slot.key || (IDS.has(peer.key) && IDS.has(slot.key)));
      const peer = peers[change.other % peers.length] as Slot;
      slot.holder[slot.key] = clone(peer.holder[peer.key]);
      break;
    }
    case 'copyNode': {
      const lists = slots.filter(({ holder, key }) => Array.isArray(holder[key]) && LISTS.has(key));
      const items = slots.filter(({ holder }) => Array.isArray(holder));
      if (lists.length === 0 || items.length === 0) break;
      const list = lists[change.at % lists.length] as Slot;
      const item = items[change.other % items.length] as Slot;
      (list.holder[list.key] as unknown[]).push(clone(item.holder[item.key]));
      break;
    }
    default:
      // Rarely, so that most mutants keep a graph's form.
      return change.other % 8 === 0 ? change.value : root;
  }
  return root;
}

const IDS = new Set(['id', 'source', 'target', 'innerNode', 'internal_node', 'headNodeId']);
const LISTS = new Set(['nodes', 'edges', 'presets', 'subgraphs', 'triggerTargets']);

function put(holder: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') holder[key] = value;
  else Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function slotsOf(root: unknown): readonly Slot[] {
  const slots: Slot[] = [];
  const queue: unknown[] = [root];
  for (let value = queue.pop(); value !== undefined && slots.length < 4000; value = queue.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const holder = value as Record<string, unknown>;
    for (const key of Object.keys(holder)) {
      slots.push({ holder, key });
      queue.push(holder[key] ?? null);
    }
  }
  return slots;
}

/** Without recursion: some values nest deeper than the stack. */
function clone(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  const root: unknown[] = [value];
  const queue: object[] = [root];
  for (let holder = queue.pop(); holder !== undefined; holder = queue.pop()) {
    for (const [key, member] of Object.entries(holder) as [string, unknown][]) {
      if (typeof member !== 'object' || member === null) continue;
      const copy: unknown[] | Record<string, unknown> = Array.isArray(member)
        ? [...(member as unknown[])]
        : { ...member };
      put(holder as Record<string, unknown>, key, copy);
      queue.push(copy);
    }
  }
  return root[0];
}

const DEEP = (depth: number): unknown => {
  let value: unknown = 'bottom';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const hostileKey = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'id',
  'type',
  'params',
  'nodes',
  'size',
  'first',
  '0',
  '',
);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    0,
    -1,
    1e308,
    1e-320,
    4294967296,
    Infinity,
    NaN,
    [],
    {},
    [[]],
    '__proto__',
    'constructor',
    'a',
    's',
    'tensor',
    'x'.repeat(3000),
  ),
  fc.constantFrom<unknown>(
    'preset:Outer',
    'preset:Two Layers',
    'preset:',
    'subgraph:enc',
    'subgraph:whole',
    'subgraph:',
    'note',
    'Later',
    'Layer',
    'Start',
    'GraphInput',
    'trigger',
    'data',
  ),
  { arbitrary: fc.jsonValue({ maxDepth: 2 }), weight: 1 },
  fc.constantFrom(20, 150, 250, 1000).map(DEEP),
  fc
    .constantFrom('{"__proto__": {"polluted": true}}', '{"__proto__": null, "constructor": {"prototype": 1}}')
    .map((text) => JSON.parse(text) as unknown),
);
