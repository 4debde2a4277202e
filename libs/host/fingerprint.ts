import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism, cpus, platform, release } from 'node:os';
import { join } from 'node:path';
import { canonicalJson } from '@cdui/protocol';
import { programVersion } from './program-version';

export interface FingerprintOptions {
  /** Folder of custom nodes; null where there is none. */
  readonly customNodes: string | null;
  /** Devices that a runtime serves here. */
  readonly devices: readonly string[];
}

/** What a run's results may depend on besides its graph: this computer, this program and its custom nodes. */
export class MachineFingerprint {
  private readonly facts = machineFacts();
  private readonly hashes = new Map<string, { readonly state: string; readonly hash: string }>();

  constructor(private readonly options: FingerprintOptions) {}

  /** @param runtime what computes, as the run's facts say it. */
  document(runtime: unknown): Readonly<Record<string, unknown>> {
    return { ...this.facts, runtime, custom_nodes: this.customNodes(), devices: this.options.devices };
  }

  /** File -> sha256; a file is read again only when it changed. */
  private customNodes(): Readonly<Record<string, string>> {
    const { customNodes: folder } = this.options;
    const hashes: Record<string, string> = {};
    if (folder === null) return hashes;
    for (const name of filesBelow(folder)) {
      const hash = this.hashOf(folder, name);
      if (hash !== null) hashes[name] = hash;
    }
    return hashes;
  }

  private hashOf(folder: string, name: string): string | null {
    const path = join(folder, name);
    try {
      const { size, mtimeMs, ino } = statSync(path);
      const state = `${size} ${mtimeMs} ${ino}`;
      const known = this.hashes.get(name);
      if (known?.state === state) return known.hash;
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      this.hashes.set(name, { state, hash });
      return hash;
    } catch {
      // It went while it was looked at.
      return null;
    }
  }
}

/** The canonical text of a fingerprint's document, and its SHA-256, by which it is known. */
export function fingerprintOf(document: Readonly<Record<string, unknown>>): {
  readonly digest: string;
  readonly document: string;
} {
  const text = canonicalJson(document);
  return { digest: createHash('sha256').update(text).digest('hex'), document: text };
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch {
    // There are no custom nodes.
    return [];
  }
}

function machineFacts(): Readonly<Record<string, unknown>> {
  return {
    node: process.version,
    version: programVersion(),
    os: { platform: platform(), release: release(), arch: process.arch },
    cpu: { model: cpus()[0]?.model.trim() ?? null, features: cpuFeatures() },
    threads: availableParallelism(),
  };
}

/** What the processor can do, as Linux lists it; null elsewhere. */
function cpuFeatures(): readonly string[] | null {
  try {
    const line = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'));
    return line?.[1]?.trim().split(/\s+/).sort() ?? null;
  } catch {
    return null;
  }
}
