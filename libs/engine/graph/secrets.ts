import type { CatalogView, GraphFile, PresetDefinition } from '@cdui/protocol';
import type { JsonObject } from './json';
import { isObject, own } from './json';
import { PRESET_PREFIX } from './shape';

/** One secret that was taken out of a graph: where it was, and its value. Kept in memory only. */
export interface SecretValue {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

export interface ScrubbedGraph {
  /** The graph with every secret as an empty text; all else is the same. */
  readonly graph: GraphFile;
  readonly secrets: readonly SecretValue[];
}

/**
 * Blanks every secret: of nodes, of preset instances (`internalParams`, by the embedded and the installed definition), of nodes in
 * subgraphs and in embedded presets, and defaults of exposed secret params. Nothing that needs no blanking is copied.
 */
export function scrubSecrets(graph: GraphFile, catalog: CatalogView): ScrubbedGraph {
  const secrets = new Finder(graph, catalog).find();
  return {
    graph: secrets.reduce((scrubbed, { path }) => replaceAt(scrubbed, path, ''), graph as unknown) as GraphFile,
    secrets,
  };
}

/** Puts secrets back to where they were taken from. Places that are no longer there are left out. */
export function restoreSecrets(graph: GraphFile, secrets: readonly SecretValue[]): GraphFile {
  return secrets.reduce((restored, { path, value }) => replaceAt(restored, path, value), graph as unknown) as GraphFile;
}

/** The secret texts that stand in installed presets. */
export function presetSecrets(
  presets: { get(name: string): PresetDefinition | undefined; names(): readonly string[] },
  catalog: CatalogView,
): readonly string[] {
  const installed = presets.names().flatMap((name) => presets.get(name) ?? []);
  const secrets = new Finder({ nodes: [], edges: [], presets: installed }, catalog).find();
  return secrets.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
}

type Path = readonly (string | number)[];

class Finder {
  private readonly secrets: SecretValue[] = [];
  private readonly embedded = new Map<string, PresetDefinition>();
  /** Type -> whether params of it may be secret. */
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly graph: GraphFile,
    private readonly catalog: CatalogView,
  ) {
    for (const preset of items(own(graph, 'presets'))) {
      const name = own(preset, 'preset_name');
      if (typeof name === 'string') this.embedded.set(name, preset as PresetDefinition & JsonObject);
    }
  }

  find(): readonly SecretValue[] {
    this.nodes(own(this.graph, 'nodes'), ['nodes']);
    items(own(this.graph, 'subgraphs')).forEach((subgraph, index) => {
      this.nodes(own(subgraph, 'nodes'), ['subgraphs', index, 'nodes']);
    });
    items(own(this.graph, 'presets')).forEach((preset, index) => this.preset(preset, ['presets', index]));
    return this.secrets;
  }

  private nodes(nodes: unknown, path: Path): void {
    if (!Array.isArray(nodes)) return;
    nodes.forEach((node: unknown, index) => {
      // Most nodes have no params that could be secret: they cost no path.
      if (isObject(node) && this.mayHold(node)) this.node(node, [...path, index]);
    });
  }

  /** Whether a node has anything besides params of a type that has no secrets. */
  private mayHold(node: JsonObject): boolean {
    const type = own(node, 'type');
    if (typeof type !== 'string') return false;
    return type.startsWith(PRESET_PREFIX) || this.hasSecrets(type);
  }

  private hasSecrets(type: string): boolean {
    let has = this.known.get(type);
    if (has === undefined) {
      const definition = this.catalog.definition(type);
      has = !definition || definition.params.some(({ param_type: kind }) => kind === 'secret');
      this.known.set(type, has);
    }
    return has;
  }

  /** A node of a graph keeps its params below `data`, a node of a preset beside its type: both places are looked at. */
  private node(node: JsonObject, path: Path): void {
    const type = own(node, 'type');
    if (typeof type !== 'string') return;
    const data = own(node, 'data');
    this.holder(node, type, path);
    if (isObject(data)) this.holder(data, type, [...path, 'data']);
  }

  private holder(holder: JsonObject, type: string, path: Path): void {
    this.params(own(holder, 'params'), (name) => this.isSecret(type, name), [...path, 'params']);
    const inner = own(holder, 'internalParams');
    if (!isObject(inner) || !type.startsWith(PRESET_PREFIX)) return;
    for (const [id, params] of Object.entries(inner)) {
      this.params(params, (name) => this.isInnerSecret(type.slice(PRESET_PREFIX.length), id, name), [
        ...path,
        'internalParams',
        id,
      ]);
    }
  }

  private preset(preset: JsonObject, path: Path): void {
    this.nodes(own(preset, 'nodes'), [...path, 'nodes']);
    const name = own(preset, 'preset_name');
    items(own(preset, 'exposed_params')).forEach((exposed, index) => {
      const definition = own(exposed, 'param_def');
      const inner = own(exposed, 'internal_node');
      const param = own(exposed, 'param_name');
      if (!isObject(definition) || typeof inner !== 'string' || typeof param !== 'string') return;
      const at = [...path, 'exposed_params', index, 'param_def'];
      this.params(definition, (key) => key === 'default' && this.isInnerSecret(String(name), inner, param), at);
    });
  }

  private params(params: unknown, isSecret: (name: string) => boolean, path: Path): void {
    if (!isObject(params)) return;
    for (const [name, value] of Object.entries(params)) {
      if (value !== '' && value !== null && isSecret(name)) this.secrets.push({ path: [...path, name], value });
    }
  }

  private isSecret(type: string, param: string): boolean {
    const definition = this.catalog.definition(type);
    // What a type that is not there calls a secret is not known: better to blank a name that looks like one than to store it.
    if (!definition) return SECRET_NAME.test(param);
    return definition.params.some((candidate) => candidate.name === param && candidate.param_type === 'secret');
  }

  private isInnerSecret(preset: string, inner: string, param: string): boolean {
    return [this.embedded.get(preset), this.catalog.preset(preset)].some((definition) => {
      const types = items(definition?.nodes).filter((node) => own(node, 'id') === inner);
      const exposed = items(definition?.exposed_params).filter(
        (candidate) => own(candidate, 'internal_node') === inner && own(candidate, 'param_name') === param,
      );
      return (
        types.some((node) => this.isSecret(String(own(node, 'type')), param)) ||
        exposed.some((candidate) => own(own(candidate, 'param_def') as JsonObject, 'param_type') === 'secret')
      );
    });
  }
}

const SECRET_NAME = /(^|_)(api_?key|secret|password|passwd|access_token|auth_token)$/i;

function items(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.map((item) => (isObject(item) ? item : {})) : [];
}

/** A copy of the value with another one at the path; the value itself when there is no such place. */
function replaceAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(value)) {
    if (typeof key !== 'number' || key >= value.length) return value;
    const copy: unknown[] = [...value];
    copy[key] = replaceAt(copy[key], rest, replacement);
    return copy;
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === key ? replaceAt(member, rest, replacement) : member]),
  );
}
