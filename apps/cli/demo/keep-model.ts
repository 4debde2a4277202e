import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Api, Artifact } from '../client/api';

/** Fetches a model from the server into a folder that outlives it; returns its path. The one of an earlier demo is replaced, at once and whole. */
export async function keepModel(api: Api, runId: string, { id, path }: Artifact, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, basename(path));
  const draft = `${file}.${process.pid}.draft`;
  try {
    const response = await api.order((client) =>
      client.raw('/api/runs/{id}/artifacts/{artifactId}/download', { path: { id: runId, artifactId: id } }),
    );
    await pipeline(Readable.from(response.body ?? []), createWriteStream(draft));
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return file;
}
