import { invalid } from '../fields';
import type { Handle } from '../handles';
import { RemoteHandle } from './refs';

/** The references that one scope holds. */
export class Ownership {
  private readonly counts = new Map<RemoteHandle, number>();
  private closed = false;

  /** Takes the first reference of a new handle. */
  own<H extends RemoteHandle>(handle: H): H {
    this.counts.set(handle, 1);
    return handle;
  }

  /** Takes over one reference; after the end there is nobody to keep it. */
  hold(handle: RemoteHandle): void {
    if (this.closed) handle.release();
    else this.counts.set(handle, (this.counts.get(handle) ?? 0) + 1);
  }

  /** Gives a reference to the caller: one of this scope's, or a new one where it has none. */
  give(handle: RemoteHandle): void {
    if (this.counts.has(handle)) this.forget(handle);
    else handle.retain();
  }

  /** Releases one reference, if it holds any. */
  drop(handle: RemoteHandle): void {
    if (!this.counts.has(handle)) return;
    this.forget(handle);
    if (!handle.freed) handle.release();
  }

  /** Releases all that is left. Never throws. */
  close(): void {
    this.closed = true;
    for (const [handle, count] of this.counts) {
      for (let held = count; held > 0 && !handle.freed; held--) handle.release();
    }
    this.counts.clear();
  }

  private forget(handle: RemoteHandle): void {
    const count = this.counts.get(handle) ?? 0;
    if (count > 1) this.counts.set(handle, count - 1);
    else this.counts.delete(handle);
  }
}

export function asRemote(handle: Handle): RemoteHandle {
  if (handle instanceof RemoteHandle) return handle;
  throw invalid('a handle must come from a runtime of this program');
}
