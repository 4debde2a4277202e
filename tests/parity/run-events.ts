import type { GraphFile, RunEventsPage, RunEventView, RunSubmitted } from '@cdui/protocol';
import type { TestServer } from '../../apps/control-plane/testing/test-server';
import type { NormalEvent } from './normalise';
import { normalise } from './normalise';

/** Runs the graph and answers with what was stored of it, without what two equal runs may differ in. */
export async function eventsOf(server: TestServer, graph: GraphFile, options = {}): Promise<readonly NormalEvent[]> {
  const submitted = await server.post('/api/runs', { graph, options });
  const { run_id: runId } = submitted.json as RunSubmitted;
  const all: RunEventView[] = [];
  for (;;) {
    const path = `/api/runs/${runId}/events?cursor=${all.length}&wait=30`;
    const page = (await server.get(path)).json as RunEventsPage;
    all.push(...page.events);
    if (!page.active && page.events.length === 0) return normalise(all, { runId, folder: server.folder });
  }
}
