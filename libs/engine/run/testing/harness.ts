import type { NodeRegistry, NodeSpec, NodeType, PresetRegistry } from '@cdui/node-sdk';
import { defineNode } from '@cdui/node-sdk';
import type { PresetDefinition, RunFolders } from '@cdui/protocol';
import type { Plan, PlannedNode } from '../../plan-types';
import type { RunPlanRequest, RunPlanResult } from '../request';
import { runPlan } from '../run-plan';
import { FakeRuntime } from './fake-runtime';
import { RecordingObserver } from './recording-observer';

export const FOLDERS: RunFolders = {
  data: '/data',
  models: '/data/models',
  images: '/data/images',
  files: '/data/files',
  graphs: '/data/graphs',
  datasets: '/data/datasets',
  output: '/data/output',
  customNodes: null,
};

export function registryOf(...types: readonly (NodeType | NodeSpec)[]): NodeRegistry {
  const made = types.map((type) => ('definition' in type ? type : defineNode(type)));
  const byName = new Map(made.map((type) => [type.definition.node_name, type]));
  return { get: (type) => byName.get(type), names: () => [...byName.keys()], isReserved: () => false };
}

export function presetsOf(...presets: readonly PresetDefinition[]): PresetRegistry {
  const byName = new Map(presets.map((preset) => [preset.preset_name, preset]));
  return { get: (name) => byName.get(name), names: () => [...byName.keys()] };
}

/** A planned node; `inputs` as port -> `node.port`. Ids with `>` lie in a container: `box>inner`. */
export function planned(
  id: string,
  type: string,
  inputs: Readonly<Record<string, string>> = {},
  params: PlannedNode['params'] = {},
): PlannedNode {
  const [container, inner] = id.split('>') as [string, string | undefined];
  const sources = Object.entries(inputs).map(([port, source]) => {
    const at = source.lastIndexOf('.');
    return [port, { node: source.slice(0, at), port: source.slice(at + 1) }] as const;
  });
  return {
    id,
    type,
    params,
    origin: { nodeId: container, innerId: inner ?? null },
    inputs: Object.fromEntries(sources),
  };
}

export function planOf(...nodes: readonly PlannedNode[]): Plan {
  const containers: Record<string, string[]> = {};
  for (const { id, origin } of nodes) {
    if (origin.innerId !== null) (containers[origin.nodeId] ??= []).push(id);
  }
  return { nodes, drafts: [], containers };
}

/** What a test says of a run; the rest is filled in. */
export type Run = Partial<RunPlanRequest> & Pick<RunPlanRequest, 'plan' | 'registry'>;

/** Runs a plan on a fake runtime, with sleeps that only note how long they would have been. */
export class Harness {
  readonly fake = new FakeRuntime();
  readonly observer: RecordingObserver;
  readonly slept: number[] = [];

  constructor(highWater?: number) {
    this.observer = new RecordingObserver(highWater);
  }

  run(run: Run): Promise<RunPlanResult> {
    return runPlan({
      runId: 'run',
      presets: presetsOf(),
      runtime: this.fake.runtime,
      observer: this.observer,
      options: {},
      folders: FOLDERS,
      signal: new AbortController().signal,
      sleep: (milliseconds) => {
        this.slept.push(milliseconds);
        return Promise.resolve();
      },
      ...run,
    });
  }
}

/** A promise that the test fulfils. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
