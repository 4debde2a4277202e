import type { HelloFrame, RejectFrame } from '@cdui/protocol';
import { PROTOCOL_VERSION, shown, WORKER_NAME } from '@cdui/protocol';
import type { WorkerCredential } from './transport';

const RESERVED: readonly string[] = ['local', 'any'];

/** What a hello must satisfy. @returns why it does not; null when it does */
export function judgeHello(hello: HelloFrame, credential: WorkerCredential, version: string): RejectFrame | null {
  const { name, protocol_version: protocol, version: theirs } = hello;
  if (!WORKER_NAME.test(name)) {
    const reason = `${shown(name)} is no worker's name: it has small letters, digits and dashes, up to 63, and begins with a letter or digit`;
    return reject('invalid_name', reason, { name: name.slice(0, 80) });
  }
  if (RESERVED.includes(name)) {
    return reject('reserved_name', `The name "${name}" is reserved: start the agent with --name and another one`, {
      name,
    });
  }
  if (credential.name !== null && credential.name !== name) {
    const reason = `This credential is that of worker "${credential.name}", not of "${name}"`;
    return reject('name_mismatch', reason, { name, expected: credential.name });
  }
  if (protocol !== PROTOCOL_VERSION) {
    const reason = `protocol mismatch: worker ${protocol}, control plane ${PROTOCOL_VERSION}`;
    return reject('protocol_mismatch', reason, { worker: protocol, control_plane: PROTOCOL_VERSION });
  }
  if (theirs !== version) {
    const reason = `version mismatch: worker ${theirs}, control plane ${version}`;
    return reject('version_mismatch', reason, { worker: theirs, control_plane: version });
  }
  if (hello.one_shot === true || hello.instance !== undefined) {
    return reject('one_shot_unsupported', 'This control plane has no one-shot workers yet: leave --one-shot out', {
      name,
    });
  }
  return null;
}

export function reject(code: string, reason: string, params: Readonly<Record<string, unknown>>): RejectFrame {
  return { type: 'reject', code, reason, params };
}

/** How a worker's node types differ from this server's. */
export interface CatalogDifference {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly changed: readonly string[];
}

/** @param mine type -> hash here @param theirs type -> hash there */
export function compareCatalogs(
  mine: Readonly<Record<string, string>>,
  theirs: Readonly<Record<string, string>>,
): CatalogDifference {
  const here = Object.keys(mine);
  return {
    missing: here.filter((type) => !Object.hasOwn(theirs, type)),
    extra: Object.keys(theirs).filter((type) => !Object.hasOwn(mine, type)),
    changed: here.filter((type) => Object.hasOwn(theirs, type) && theirs[type] !== mine[type]),
  };
}
