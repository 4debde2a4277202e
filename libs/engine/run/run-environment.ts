import type { NodeRegistry, PortValue, PresetRegistry } from '@cdui/node-sdk';
import type { RunFolders } from '@cdui/protocol';
import type { Handle, Scope, TensorRuntime } from '@cdui/tensor/runtime';
import type { PlannedNode } from '../plan-types';
import type { OutputRecorder } from './output-recorder';
import type { Reports } from './reports';
import { deriveSeed } from './seeds';
import type { StopFlag } from './stop-flag';

/** One call of a preset as a function. */
export interface PresetCall {
  readonly caller: Pick<PlannedNode, 'id' | 'origin'>;
  readonly scope: Scope;
  /** Takes a hold on handles until the caller is done: what the preset returns must live that long. */
  borrow(handles: readonly Handle[]): void;
  readonly name: string;
  /** The presets in which the caller itself lies, the outermost first. */
  readonly within: readonly string[];
  readonly input: PortValue;
  /** Which item of the caller's list it is, from 0. */
  readonly index: number;
}

/** What all executions of one run share. */
export interface RunEnvironment {
  readonly runId: string;
  readonly runtime: TensorRuntime;
  readonly registry: NodeRegistry;
  readonly presets: PresetRegistry;
  readonly folders: RunFolders;
  readonly device: string;
  readonly seed: number | null;
  readonly deterministic: boolean;
  readonly verbose: boolean;
  readonly recordGradients: boolean;
  readonly recordsArtifacts: boolean;
  readonly stop: StopFlag;
  readonly reports: Reports;
  /** Absent unless the run records its outputs. */
  readonly recorder: OutputRecorder | null;
  runPreset(call: PresetCall): Promise<PortValue>;
}

/** The scope of one execution: its random stream comes from the run's seed and the label alone. */
export function openNodeScope(run: RunEnvironment, label: string): Scope {
  return run.runtime.openScope({
    label,
    ...(run.seed !== null && { seed: deriveSeed(run.seed, label) }),
    recordGradients: run.recordGradients,
    signal: run.stop.signal,
  });
}
