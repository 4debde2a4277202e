/** What a server says about itself. */
export interface Health {
  readonly status: string;
  readonly version: string;
  readonly boot_id: string;
  readonly nodes_loaded?: number;
  readonly presets_loaded?: number;
  readonly broken_nodes?: number;
}

const ANSWER_MS = 5_000;

/** Null when nothing answers there, or something else than a server of this program. */
export async function healthOf(url: string): Promise<Health | null> {
  try {
    const response = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const body = (await response.json()) as Partial<Health> | null;
    return response.ok && typeof body?.boot_id === 'string' ? (body as Health) : null;
  } catch {
    return null;
  }
}
