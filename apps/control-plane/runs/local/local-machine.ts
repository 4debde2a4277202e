import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism, cpus, platform, release } from 'node:os';
import { join } from 'node:path';
import { canonicalJson } from '@cdui/protocol';
import { version } from '../../config/version';
import type { Machine } from '../world';

/** The embedded runtime serves the processor. */
const DEVICES: readonly string[] = ['cpu'];

/** This computer as runs in this process find it. */
export class LocalMachine implements Machine {
  readonly devices = DEVICES;
  private readonly facts = machineFacts();
  private readonly hashes = new Map<string, { readonly state: string; readonly hash: string }>();

  constructor(private readonly customNodesDir: string) {}

  fingerprint(runtime: unknown): { readonly digest: string; readonly document: string } {
    const document = canonicalJson({ ...this.facts, runtime, custom_nodes: this.customNodes(), devices: this.devices });
    return { digest: createHash('sha256').update(document).digest('hex'), document };
  }

  /** File -> sha256; a file is read again only when it changed. */
  private customNodes(): Readonly<Record<string, string>> {
    const hashes: Record<string, string> = {};
    for (const name of filesBelow(this.customNodesDir)) {
      const hash = this.hashOf(name);
      if (hash !== null) hashes[name] = hash;
    }
    return hashes;
  }

  private hashOf(name: string): string | null {
    const path = join(this.customNodesDir, name);
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
    version: version(),
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
