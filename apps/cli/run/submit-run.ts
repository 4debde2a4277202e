import { endNow } from '@cdui/host/end-now';
import { Api } from '../client/api';
import { EXIT } from '../exit-codes';
import { onInterrupts } from '../graph-run/interrupts';
import { persistently } from '../client/persistence';
import { followRun, isGone } from './follow-run';
import { readGraph } from './read-graph';
import type { EndedRun } from './run-end';
import { type RunArguments, runName, submissionOptions } from './run-options';
import { RunJsonView, RunTextView, type SubmittedRunView } from './run-views';

/** Submits a graph file to the server and shows its run. Returns the process's exit code. */
export async function submitRun(file: string, given: RunArguments): Promise<number> {
  const { graph, name } = await readGraph(file);
  const api = new Api(given, process.env);
  const body = { graph, options: submissionOptions(given), name: runName(given.name, name) };
  const { run_id: runId, status } = await api.order((client, signal) => client.post('/api/runs', { body, signal }));
  const view = viewOf(given.json ?? false);
  view.submitted({ runId, name: body.name, status, url: api.url });
  if (given.detach) {
    view.detached();
    return EXIT.ok;
  }
  return waitFor(api, runId, view, given.timeout);
}

export function viewOf(json: boolean): SubmittedRunView {
  return json
    ? new RunJsonView(
        (text) => process.stdout.write(text),
        (text) => process.stderr.write(text),
      )
    : new RunTextView(process.stdout, process.env);
}

/** Follows a run to its end, to Ctrl+C or to the time limit; neither of these ends the run. */
export async function waitFor(api: Api, runId: string, view: SubmittedRunView, timeout?: number): Promise<number> {
  const leave = new AbortController();
  const quiet = onInterrupts(
    () => leave.abort('interrupt'),
    () => void endNow(EXIT.interrupted),
  );
  const timer = timeout === undefined ? undefined : setTimeout(() => leave.abort('timeout'), timeout * 1000);
  try {
    const run = await followRun(api, runId, 0, view, leave.signal);
    // A server that was stopped may end the run, and then itself.
    const persistence = { relocate: () => api.relocate(), connection: view, signal: leave.signal };
    const artifacts = await persistently(() => api.artifacts(runId), persistence).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });
    view.finished(run, artifacts);
    return codeOf(run);
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    const why = leave.signal.reason as 'interrupt' | 'timeout';
    view.left(why, timeout ?? 0);
    return why === 'interrupt' ? EXIT.interrupted : EXIT.failed;
  } finally {
    clearTimeout(timer);
    quiet();
  }
}

function codeOf({ status }: EndedRun): number {
  return status === 'succeeded' ? EXIT.ok : EXIT.failed;
}
