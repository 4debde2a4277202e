import type { GraphFile, GraphIssue, PresetDefinition } from '@cdui/protocol';
import { blockOfFile, blockOfPreset, blockOfSubgraph } from './blocks';
import type { Block, BlockEdge, BlockNode, SubgraphBlock } from './blocks';
import { Boundaries } from './boundaries';
import type { FlatEdge, FlatGraph, FlatNode } from './flat-graph';
import { indexNodes } from './flat-graph';
import { Issues } from './issues';
import { isObject, listNames, own } from './json';
import { PRESET_PREFIX, presetProblem, SUBGRAPH_PREFIX } from './shape';
import { SizeLimit } from './size-limit';

/** Installed presets by name. */
export interface PresetSource {
  get(name: string): PresetDefinition | undefined;
}

export interface Flattened {
  readonly graph: FlatGraph;
  readonly issues: readonly GraphIssue[];
}

/** How deep instances may lie in each other, per kind. */
export const MAX_DEPTH = 10;
/**
 * Opens every subgraph and preset instance. An embedded preset wins over an installed one of its name. Inner ids are
 * `instance/inner` (subgraphs) and `instance__inner` (presets); triggers of an instance fan out. Instances that cannot be opened
 * stay as broken nodes, with an issue each.
 */
export function flatten(file: GraphFile, installed: PresetSource): Flattened {
  return new Flattener(file, installed).run();
}

/** Where a block is opened: the prefix of its ids and what lies around it. */
interface Place {
  readonly prefix: string;
  /** The file's instance that holds everything here; null at the top. */
  readonly container: string | null;
  /** Length of the prefix that the container itself makes. */
  readonly containerPrefix: number;
  readonly preset: string | null;
  readonly subgraphs: readonly string[];
  readonly presets: readonly string[];
}

class Flattener {
  private readonly issues = new Issues();
  private readonly nodes: FlatNode[] = [];
  private readonly pending: FlatEdge[] = [];
  private readonly pendingTriggers: FlatEdge[] = [];
  private readonly size = new SizeLimit(this.issues);
  private readonly boundaries = new Boundaries(this.issues);
  private readonly embedded = new Map<string, PresetDefinition>();
  private readonly subgraphs = new Map<string, SubgraphBlock>();
  private readonly presetBlocks = new Map<string, Block | null>();

  constructor(
    private readonly file: GraphFile,
    private readonly installed: PresetSource,
  ) {
    for (const preset of file.presets ?? []) this.embedded.set(preset.preset_name, preset);
    for (const subgraph of file.subgraphs ?? []) this.subgraphs.set(subgraph.id, blockOfSubgraph(subgraph));
  }

  run(): Flattened {
    const top = blockOfFile(this.file);
    this.open(top, { prefix: '', container: null, containerPrefix: 0, preset: null, subgraphs: [], presets: [] });
    const data = this.boundaries.empty
      ? this.pending
      : this.pending.flatMap((edge) => this.boundaries.connect(edge) ?? []);
    const triggers = this.boundaries.fanOut(this.pendingTriggers, this.size);
    this.reportDuplicates();
    const fileIds = [...new Set(top.nodes.map((node) => node.id))];
    return { graph: { nodes: this.nodes, data, triggers, fileIds }, issues: this.issues.list };
  }

  private open(block: Block, place: Place): void {
    const seen = new Set<string>();
    for (const node of block.nodes) {
      if (this.size.exceeded) return;
      // The second of two equal ids is reported, not opened: its inner ids would only repeat the message.
      if (seen.has(node.id) && isInstance(node)) {
        this.keep(node, place, true);
        continue;
      }
      seen.add(node.id);
      if (node.type.startsWith(SUBGRAPH_PREFIX)) this.openSubgraph(node, place);
      else if (node.type.startsWith(PRESET_PREFIX)) this.openPreset(node, place);
      else this.keep(node, place, false);
    }
    for (const edge of block.edges) this.keepEdge(edge, place);
  }

  private openSubgraph(node: BlockNode, place: Place): void {
    const name = node.type.slice(SUBGRAPH_PREFIX.length);
    const id = place.prefix + node.id;
    const at = place.container ?? node.id;
    const definition = this.subgraphs.get(name);
    const path = [...place.subgraphs, name];
    const params = { node: id, subgraph: name };
    if (node.bypassed) this.refuseBypass(node, id, at, 'a subgraph block');
    if (place.presets.length > 0) {
      this.issues.add(
        'malformed_preset',
        at,
        `Preset "${place.presets.at(-1)}" holds the subgraph block "${node.id}": presets must not contain subgraphs`,
        params,
      );
    } else if (!definition) {
      const known = listNames([...this.subgraphs.keys()]);
      this.issues.add(
        'unknown_subgraph',
        at,
        `Node "${id}" uses the subgraph "${name}", which the file does not define; it defines ${known}`,
        params,
      );
    } else if (place.subgraphs.includes(name)) {
      this.issues.add(
        'subgraph_recursion',
        at,
        `Subgraph "${name}" contains itself (${path.join(' -> ')}): take the block out of its own definition`,
        { ...params, path },
      );
    } else if (path.length > MAX_DEPTH) {
      this.issues.add(
        'subgraph_too_deep',
        at,
        `Subgraph blocks nest deeper than ${MAX_DEPTH} levels at "${id}": flatten some of them`,
        { ...params, limit: MAX_DEPTH },
      );
    } else {
      this.enter(node, place, definition, {
        separator: '/',
        kind: 'subgraph',
        subgraphs: path,
        presets: place.presets,
      });
      return;
    }
    this.keep(node, place, true);
  }

  private openPreset(node: BlockNode, place: Place): void {
    const name = node.type.slice(PRESET_PREFIX.length);
    const id = place.prefix + node.id;
    const at = place.container ?? node.id;
    const params = { node: id, preset: name };
    const path = [...place.presets, name];
    if (node.bypassed) this.refuseBypass(node, id, at, 'a preset');
    const block = this.presetBlock(name, at);
    if (block === undefined) {
      this.issues.add(
        'unknown_preset',
        at,
        `Node "${id}" uses the preset "${name}", which is neither installed nor in the file: install it or embed its definition`,
        params,
      );
    } else if (place.presets.includes(name)) {
      this.issues.add(
        'preset_too_deep',
        at,
        `Preset "${name}" contains itself (${path.join(' -> ')}): take it out of its own definition`,
        { ...params, path },
      );
    } else if (path.length > MAX_DEPTH) {
      this.issues.add(
        'preset_too_deep',
        at,
        `Presets nest deeper than ${MAX_DEPTH} levels at "${id}": flatten some of them`,
        { ...params, limit: MAX_DEPTH },
      );
    } else if (block !== null) {
      const overlaid = { ...block, nodes: block.nodes.map((inner) => overlay(inner, node)) };
      this.enter(node, place, overlaid, { separator: '__', kind: 'preset', subgraphs: place.subgraphs, presets: path });
      return;
    }
    this.keep(node, place, true);
  }

  /** The block of a preset; null when its definition is malformed (which is reported once), undefined when there is none. */
  private presetBlock(name: string, at: string): Block | null | undefined {
    const known = this.presetBlocks.get(name);
    if (known !== undefined) return known;
    const definition = this.embedded.get(name) ?? this.installed.get(name);
    if (definition === undefined) return undefined;
    const problem = presetProblem(definition);
    if (problem !== null) this.issues.add('malformed_preset', at, `Preset "${name}": ${problem}`, { preset: name });
    const block = problem === null ? blockOfPreset(definition) : null;
    this.presetBlocks.set(name, block);
    return block;
  }

  private enter(
    node: BlockNode,
    place: Place,
    block: Block,
    how: { separator: string; kind: 'preset' | 'subgraph'; subgraphs: readonly string[]; presets: readonly string[] },
  ): void {
    const id = place.prefix + node.id;
    const prefix = id + how.separator;
    const container = place.container ?? node.id;
    const name = node.type.slice((how.kind === 'preset' ? PRESET_PREFIX : SUBGRAPH_PREFIX).length);
    this.boundaries.open(id, { block, prefix, container, kind: how.kind, name });
    this.open(block, {
      prefix,
      container,
      containerPrefix: place.container === null ? prefix.length : place.containerPrefix,
      preset: how.kind === 'preset' ? (place.preset ?? id) : place.preset,
      subgraphs: how.subgraphs,
      presets: how.presets,
    });
  }

  private keep(node: BlockNode, place: Place, broken: boolean): void {
    if (!this.size.admitsNode(this.nodes.length)) return;
    const id = place.prefix + node.id;
    this.nodes.push({
      id,
      type: node.type,
      params: node.params,
      bypassed: node.bypassed,
      origin:
        place.container === null
          ? { nodeId: node.id, innerId: null }
          : { nodeId: place.container, innerId: id.slice(place.containerPrefix) },
      preset: place.preset,
      broken,
    });
  }

  private keepEdge(edge: BlockEdge, place: Place): void {
    const edges = edge.trigger ? this.pendingTriggers : this.pending;
    if (!this.size.admitsEdge(edges.length)) return;
    edges.push({
      id: place.prefix + edge.id,
      source: place.prefix + edge.source,
      sourcePort: edge.sourcePort,
      target: place.prefix + edge.target,
      targetPort: edge.targetPort,
    });
  }

  private reportDuplicates(): void {
    if (this.boundaries.empty && indexNodes(this.nodes).size === this.nodes.length) return;
    const seen = new Map<string, FlatNode>();
    const reported = new Set<string>();
    for (const node of this.nodes) {
      if (!seen.has(node.id) && !this.boundaries.has(node.id)) {
        seen.set(node.id, node);
      } else if (!reported.has(node.id)) {
        reported.add(node.id);
        this.issues.add(
          'duplicate_node_id',
          node.origin.nodeId,
          `Two nodes have the id "${node.id}": give one of them another id`,
          { node: node.id },
        );
      }
    }
  }

  private refuseBypass(node: BlockNode, id: string, at: string, what: string): void {
    this.issues.add(
      'bypass_not_allowed',
      at,
      `Node "${id}" is ${what} and cannot be bypassed: bypass inner nodes or remove it`,
      { node: id, type: node.type },
    );
  }
}

function isInstance(node: BlockNode): boolean {
  return node.type.startsWith(SUBGRAPH_PREFIX) || node.type.startsWith(PRESET_PREFIX);
}

function overlay(inner: BlockNode, instance: BlockNode): BlockNode {
  const params = own(instance.internalParams, inner.id);
  return isObject(params) ? { ...inner, params: { ...inner.params, ...params } } : inner;
}
