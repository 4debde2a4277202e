import * as fc from 'fast-check';
import type { GraphFile, GraphIssue } from '@cdui/protocol';
import { ISSUE_CODES } from '@cdui/protocol';
import { expandGraph } from '../expand';
import { catalogView } from '../node-types';
import { parseGraph } from '../parse';
import { planGraph } from '../plan';
import { restoreSecrets, scrubSecrets } from '../secrets';
import { featureGraphs } from './feature-graphs';
import { mutated } from './mutations';
import { samplePresets, sampleRegistry } from './sample-registry';
import { validateGraph } from '../validate';

const registry = sampleRegistry();
const presets = samplePresets();
const catalog = catalogView(registry, presets);
const codes: ReadonlySet<string> = new Set(ISSUE_CODES);

/** Everything that must hold of any input whatever. Returns what became of it, to show that the mutations reach every outcome. */
function survive(value: unknown): 'unreadable' | 'invalid' | 'valid' | 'planned draft' {
  const { graph, issues } = parseGraph(value);
  expectSerialisable(issues);
  if (graph === null) {
    must(issues.length > 0, 'a graph is refused with a reason');
    // Later stages are given unchecked graphs as well: they answer with the same problems.
    const file = value as GraphFile;
    expectSerialisable(validateGraph(file, catalog).issues);
    must('issues' in planGraph(file, { registry, presets }), 'what is unreadable has no plan');
    must(expandGraph(file, presets).graph === null, 'what is unreadable cannot be expanded');
    return 'unreadable';
  }
  const validation = validateGraph(graph, catalog);
  expectSerialisable([...validation.issues, ...validation.warnings]);
  must(validation.valid === (validation.issues.length === 0), 'valid means no issue');
  expectSerialisable(expandGraph(graph, presets).issues);
  const planned = planGraph(graph, { registry, presets });
  if ('issues' in planned) {
    expectSerialisable(planned.issues);
    must(planned.issues.length > 0, 'a plan is refused with a reason');
    must(!validation.valid, 'a valid graph has a plan');
    return 'invalid';
  }
  expectExecutable(planned.plan.nodes);
  const scrubbed = scrubSecrets(graph, catalog);
  const restored = restoreSecrets(scrubbed.graph, scrubbed.secrets);
  must(JSON.stringify(restored) === JSON.stringify(graph), 'secrets come back');
  return validation.valid ? 'valid' : 'planned draft';
}

/** Hundreds of thousands of calls: `expect` would take most of the time. */
function must(condition: boolean, rule: string): void {
  if (!condition) throw new Error(`Broken: ${rule}`);
}

function expectSerialisable(issues: readonly GraphIssue[]): void {
  for (const issue of issues) {
    if (!codes.has(issue.code) || issue.message === '' || issue.message.length > 2010 || !isJson(issue)) {
      throw new Error(`Bad issue ${issue.code}: ${issue.message}`);
    }
  }
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isJson);
}

function expectExecutable(
  nodes: readonly { id: string; type: string; inputs: Readonly<Record<string, { node: string }>> }[],
): void {
  const done = new Set<string>();
  for (const node of nodes) {
    for (const { node: producer } of Object.values(node.inputs))
      if (!done.has(producer)) throw new Error(`${node.id} before ${producer}`);
    for (const port of registry.get(node.type)?.definition.inputs ?? []) {
      if (!port.optional && !Object.hasOwn(node.inputs, port.name)) throw new Error(`${node.id} lacks ${port.name}`);
    }
    done.add(node.id);
  }
  must(done.size === nodes.length, 'ids are unique');
}

/**
 * Half of the 100,000 mutated graphs, in batches; two spec files run one half each, so that they go side by side. Each half has to reach
 * every outcome, or the mutations would show little.
 */
export function describeMutants(half: 0 | 1): void {
  describe('50,000 mutated graphs', () => {
    const outcomes = new Map<string, number>();

    it('begin with valid graphs', () => {
      for (const graph of featureGraphs) {
        expect(validateGraph(graph, catalog)).toMatchObject({ valid: true, issues: [], warnings: [] });
      }
    });

    it.each([0, 1, 2, 3, 4])(
      'batch %i goes through parse, validate, expand and plan without an exception',
      (batch) => {
        fc.assert(
          fc.property(mutated(featureGraphs), (value) => {
            const outcome = survive(value);
            outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          }),
          { numRuns: 10_000, seed: 5 * half + batch },
        );
      },
      120_000,
    );

    it.each(['unreadable', 'invalid', 'valid', 'planned draft'])('came out %s often enough', (outcome) => {
      expect(outcomes.get(outcome) ?? 0).toBeGreaterThan(500);
    });
  });
}
