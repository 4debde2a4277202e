import type { GraphSettings, RunOptions, SubmissionOptions, WarningPayload } from '@cdui/protocol';
import { CodedError, reasonOf } from '@cdui/protocol';
import { canonicalDevice } from '@cdui/scheduling';

/** Where a run on this server waits and computes. */
export interface LocalPlace {
  /** All of them are taken; it executes on the first. */
  readonly devices: readonly string[];
  readonly queueKey: string;
  /** Set when it computes elsewhere than it asked for. */
  readonly warning: WarningPayload | null;
}

/** The device that was asked for: the target's first, the option, the graph's setting, else the processor. */
export function askedDevice(settings: GraphSettings | undefined, options: SubmissionOptions): string {
  return options.target?.devices?.[0] ?? options.device ?? settings?.device?.toLowerCase() ?? 'cpu';
}

/**
 * A device that is not there is replaced, with a warning. A device set is asked for by name and is taken as it is, or refused.
 *
 * @throws CodedError `device_unavailable`
 */
export function localPlace(asked: string, options: SubmissionOptions, offered: readonly string[]): LocalPlace {
  const set = options.target?.devices;
  if (set) {
    const missing = set.filter((device) => !offered.includes(device));
    if (missing.length > 0) {
      const message = `This server does not offer ${missing.join(', ')}: target.devices may name ${offered.join(', ')}`;
      throw new CodedError('device_unavailable', message, { option: 'target.devices', missing, offered });
    }
    return { devices: set, queueKey: set.join('+'), warning: null };
  }
  const { device, fallback } = canonicalDevice(asked, offered);
  return { devices: [device], queueKey: device, warning: fallback ? fallbackWarning(asked, device) : null };
}

function fallbackWarning(asked: string, used: string): WarningPayload {
  const { code, params, message: detail } = reasonOf('device_fallback', { asked, used });
  return { kind: 'device_fallback', detail, code, params };
}

/** The part of the options that the engine gets: everything that the graph's settings leave to it is decided. */
export function engineOptions(
  settings: GraphSettings | undefined,
  options: SubmissionOptions,
  device: string,
  changedNodes: readonly string[] | null,
): RunOptions {
  return {
    device,
    seed: options.seed ?? settings?.seed ?? null,
    deterministic: options.deterministic || settings?.deterministic === true,
    record_outputs: options.record_outputs,
    verbose: options.verbose,
    backward_mode: options.backward_mode,
    auto_backward: options.auto_backward,
    weights_persistent: options.weights_persistent,
    graph_id: options.graph_id,
    error_mode: options.error_mode,
    max_retries: options.max_retries,
    ...(changedNodes && { changed_nodes: changedNodes }),
  };
}
