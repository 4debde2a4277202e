import { GraphRun } from './graph-run';
import type { RunPlanRequest, RunPlanResult } from './request';

/**
 * Executes a plan. A node starts when its own inputs are ready; at most `maxParallel` at once, one at a time in the plan's order in a
 * seeded run. Never rejects for what nodes do: their failures are part of the result. When it resolves no node runs any more, and
 * every handle that only this run held is released.
 */
export async function runPlan(request: RunPlanRequest): Promise<RunPlanResult> {
  const run = new GraphRun(request);
  try {
    return await run.run();
  } finally {
    run.close();
  }
}
