import type { GraphFile, GraphSettings, Submission } from '@cdui/protocol';
import { checkSubmission, CodedError } from '@cdui/protocol';
import { JsonRefusal, parseJson } from '../system/json-text';
import { type ReadAnswer, wantedFor } from './messages';
import { prepareGraph, type Types } from './prepare-graph';

/** Reads the body of a submission, which is parsed here and nowhere else: its JSON, its form, then whether its graph could run. */
export function readSubmission(body: Uint8Array, types: Types): ReadAnswer {
  let submission: Submission;
  try {
    submission = checkSubmission(parseJson(body));
  } catch (error) {
    return refusal(error);
  }
  const { graph, name, options } = submission;
  const { issues, scrubbed, provenance, nodeTypes } = prepareGraph(graph, types, wantedFor(options));
  if (issues.length > 0) return { outcome: 'cannot_run', issues };
  const text = utf8(JSON.stringify(graph));
  return {
    ...{ outcome: 'accepted', name, options, settings: settingsOf(graph), provenance, nodeTypes },
    ...(scrubbed === null ? { graph: text, secret: null } : { graph: utf8(scrubbed), secret: text }),
  };
}

function refusal(error: unknown): ReadAnswer {
  if (error instanceof JsonRefusal) return { outcome: 'unreadable', type: error.type, message: error.message };
  if (!(error instanceof CodedError)) throw error;
  const { code, message, params } = error;
  return { outcome: 'misformed', code, message, params };
}

/** Those that decide how the run is placed; whatever else stands there stays in the graph. */
function settingsOf({ settings }: GraphFile): GraphSettings {
  const { device, seed, deterministic } = settings ?? {};
  return {
    ...(device !== undefined && { device }),
    ...(seed !== undefined && { seed }),
    ...(deterministic !== undefined && { deterministic }),
  };
}

const encoder = new TextEncoder();

/** In memory of its own, which can be handed over. */
function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}
