import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';

/** Which matrix library PyTorch computes with: what Debian installs by default, or OpenBLAS. */
export type Blas = 'reference' | 'openblas';

const LIBRARIES: Record<Blas, string> = {
  reference: '/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack',
  openblas: '/usr/lib/x86_64-linux-gnu/openblas-pthread',
};

/** Debian's own interpreter: the one its python3-torch belongs to. */
const PYTHON = process.env['CODEFYUI_BENCH_PYTHON'] ?? '/usr/bin/python3';

/** PyTorch in a process of its own that stays up between rounds. */
export class TorchReference {
  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly lines: AsyncIterator<string>,
    private readonly reader: Interface,
    /** Version, threads and the BLAS files that were loaded. */
    readonly description: { torch: string; threads: number; blas: string[] },
  ) {}

  /** Null where this machine has no PyTorch or not that BLAS; the figures that need it are left out. */
  static async start(blas: Blas, threads: number): Promise<TorchReference | null> {
    if (!LIBRARIES[blas].split(':').every((folder) => existsSync(folder)) || !hasTorch()) return null;
    const child = spawn(PYTHON, [join(programRoot(), 'apps/bench/torch_reference.py'), String(threads)], {
      env: { ...process.env, LD_LIBRARY_PATH: LIBRARIES[blas] },
      stdio: 'pipe',
    });
    child.stderr.pipe(process.stderr);
    const reader = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const description = JSON.parse(await nextLine(lines)) as TorchReference['description'];
    const wanted = blas === 'openblas' ? /openblas/ : /\/blas\/libblas/;
    if (!description.blas.some((path) => wanted.test(path))) {
      child.kill();
      return null;
    }
    return new TorchReference(child, lines, reader, description);
  }

  /** Milliseconds per step over `steps` steps of the named case. */
  async measure(name: string, steps: number): Promise<number> {
    this.child.stdin.write(`${JSON.stringify({ case: name, steps })}\n`);
    return (JSON.parse(await nextLine(this.lines)) as { ms: number }).ms;
  }

  close(): void {
    this.child.stdin.end();
    this.reader.close();
  }
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const next = await lines.next();
  if (next.done) throw new Error('The PyTorch process ended without an answer; see its output above.');
  return next.value;
}

function hasTorch(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import torch'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
