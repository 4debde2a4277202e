import { InvalidArgumentError } from 'commander';

const MAX_PORT = 65_535;

/** The port that a server is to listen on. */
export function parsePort(text: string): number {
  const value = portIn(text);
  if (value === null) throw new InvalidArgumentError(`Give a port from 0 to ${MAX_PORT}; 0 lets the system choose.`);
  return value;
}

/** The port that a server listens on. */
export function parseServerPort(text: string): number {
  const value = portIn(text);
  if (value === null || value === 0) throw new InvalidArgumentError(`Give the server's port, from 1 to ${MAX_PORT}.`);
  return value;
}

function portIn(text: string): number | null {
  const value = Number(text);
  return /^\d+$/.test(text.trim()) && value <= MAX_PORT ? value : null;
}

export function parseHost(text: string): string {
  if (!/^[^\s/]+$/.test(text)) throw new InvalidArgumentError('Give an address or a host name, such as 127.0.0.1.');
  return text;
}

/** Seconds above zero, with fractions. */
export function parseSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('Give a number of seconds above 0.');
  }
  return value;
}
