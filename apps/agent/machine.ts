import { readFileSync } from 'node:fs';
import type { AgentClock, AgentLog } from './core/world';

/** The machine's clock. What counts the time in which it sleeps is, where there is none, the one that people set. */
export const systemClock: AgentClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  boottime: () => uptimeMs() ?? Date.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/** Linux counts the time of its sleep there; null elsewhere. */
function uptimeMs(): number | null {
  if (process.platform !== 'linux') return null;
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
  } catch {
    return null;
  }
}

/** Lines of the agent's log. What they tell of comes without secrets. */
export const standardLog: AgentLog = {
  info: (message) => line('info', message),
  warn: (message) => line('warn', message),
};

function line(level: string, message: string): void {
  process.stdout.write(`${new Date().toISOString()} ${level.padEnd(5)} ${message}\n`);
}
