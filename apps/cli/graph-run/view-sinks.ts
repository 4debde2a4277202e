import type { RunHostMessage } from '@cdui/protocol';
import type { RunView } from './view';

type Message<Type extends RunHostMessage['type']> = Extract<RunHostMessage, { type: Type }>;

/**
 * An executor's sinks that pass everything to a view as messages. A terminal is fast enough for whatever a run says: it is always
 * below its high-water mark.
 */
export function viewSinks(view: RunView, runId: string) {
  const pass = (message: RunHostMessage): boolean => {
    view.message(message);
    return true;
  };
  return {
    started: () => pass({ type: 'run_started', run_id: runId }),
    emit: (event: Message<'event'>['event'], at_ms: number) => pass({ type: 'event', run_id: runId, at_ms, event }),
    recordMetrics: (points: Message<'metrics'>['points'], at_ms: number) =>
      pass({ type: 'metrics', run_id: runId, at_ms, points }),
    recordArtifact: (artifact: Message<'artifact'>['artifact'], at_ms: number) =>
      pass({ type: 'artifact', run_id: runId, at_ms, artifact }),
    warn: (warning: Message<'warning'>['warning'], at_ms: number) =>
      pass({ type: 'warning', run_id: runId, at_ms, warning }),
    console: (text: string) => pass({ type: 'console', run_id: runId, text }),
    drained: () => Promise.resolve(),
  };
}
