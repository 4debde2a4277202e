import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineObserver, planGraph, runPlan } from '@cdui/engine';
import { defineNode } from '@cdui/node-sdk';
import { createNodeRegistry, createPresetRegistry } from '@cdui/nodes';
import type { GraphEdge, GraphFile, GraphNode, RunFolders } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { Figures, Report } from './figures';
import { median } from './rounds';

const NODES = 1000;
const ROUNDS = 9;

const increment = defineNode({
  name: 'Increment',
  category: 'Benchmark',
  description: 'Adds one.',
  inputs: { value: 'SCALAR?' },
  outputs: { value: 'SCALAR' },
  execute: (_context, inputs) => ({ value: (inputs.optionalNumber('value') ?? 0) + 1 }),
});
const start = defineNode({
  name: 'Start',
  category: 'Benchmark',
  description: 'Begins.',
  outputs: { trigger: 'TRIGGER' },
  execute: () => ({}),
});

/** A chain of 1,000 nodes that only add one: everything else is the engine's own time, scopes and reports included. */
export async function benchEngine(report: Report): Promise<Figures> {
  const registry = createNodeRegistry([start, increment]);
  const presets = createPresetRegistry([], registry, () => undefined);
  const planned = planGraph(chain(), { registry, presets });
  if ('issues' in planned) throw new Error(planned.issues.map((issue) => issue.message).join('; '));
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: 1 });
  const root = mkdtempSync(join(tmpdir(), 'cdui-bench-'));
  const times: number[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const began = performance.now();
      const result = await runPlan({
        runId: `round-${round}`,
        plan: planned.plan,
        registry,
        presets,
        runtime,
        observer: SILENT,
        options: {},
        folders: foldersIn(root),
        signal: new AbortController().signal,
        sleep: () => Promise.resolve(),
      });
      if (result.status !== 'succeeded') throw new Error(result.error ?? result.status);
      if (round > 0) times.push(((performance.now() - began) * 1000) / NODES);
    }
  } finally {
    await runtime.close();
    rmSync(root, { recursive: true });
  }
  report(`${NODES} trivial nodes: ${median(times).toFixed(1)} us a node`);
  return { 'engine.node_overhead_us': median(times) };
}

function chain(): GraphFile {
  const nodes: GraphNode[] = [{ id: 'start', type: 'Start' }];
  const edges: GraphEdge[] = [{ source: 'start', target: 'n0', sourceHandle: 'trigger', type: 'trigger' }];
  for (let i = 0; i < NODES; i++) {
    nodes.push({ id: `n${i}`, type: 'Increment' });
    if (i > 0) edges.push({ source: `n${i - 1}`, sourceHandle: 'value', target: `n${i}`, targetHandle: 'value' });
  }
  return { nodes, edges };
}

const SILENT: EngineObserver = {
  status: () => true,
  metric: () => true,
  artifact: () => true,
  warning: () => true,
  console: () => true,
  drained: () => Promise.resolve(),
};

function foldersIn(root: string): RunFolders {
  return {
    data: root,
    models: root,
    images: root,
    files: root,
    graphs: root,
    datasets: root,
    output: root,
    customNodes: null,
  };
}
