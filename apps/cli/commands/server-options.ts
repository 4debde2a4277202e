import { InvalidArgumentError } from 'commander';

const MAX_PORT = 65_535;

export function parsePort(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text.trim()) || value > MAX_PORT) {
    throw new InvalidArgumentError(`Give a port from 0 to ${MAX_PORT}; 0 lets the system choose.`);
  }
  return value;
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
