import type { DeviceFacts } from '@cdui/protocol';
import { identitiesOf, isLoopback } from './identities';

const nothing = { total_bytes: null, free_bytes: null, utilization: null };
const devices: readonly DeviceFacts[] = [
  { device: 'cpu', name: 'Processor', uuid: null, ...nothing },
  { device: 'mps:0', name: 'Apple GPU', uuid: null, ...nothing },
  { device: 'cuda:1', name: 'Card', uuid: 'GPU-7', ...nothing },
  { device: 'cuda:2', name: 'Card', uuid: null, ...nothing },
];

describe('identitiesOf', () => {
  it('names cards as their driver does, and what every machine has after the machine', () => {
    expect(identitiesOf(devices, { id: 'm1', isServers: false })).toEqual({
      ...{ cpu: 'machine:m1/cpu', 'mps:0': 'machine:m1/mps:0' },
      'cuda:1': 'card:GPU-7',
    });
  });

  it('gives what is on the server’s own machine the names that the server’s slots have', () => {
    const names = identitiesOf(devices, { id: 'm1', isServers: true });
    expect(names).toEqual({ cpu: 'local/cpu', 'mps:0': 'local/mps:0', 'cuda:1': 'card:GPU-7' });
  });

  it('knows only cards of a machine that does not tell its name', () => {
    expect(identitiesOf(devices, { id: null, isServers: false })).toEqual({ 'cuda:1': 'card:GPU-7' });
  });
});

describe('isLoopback', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('takes %s', (address) => {
    expect(isLoopback(address)).toBe(true);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '1271.0.0.1', 'fe80::1', 'unknown', ''])('does not take %j', (address) => {
    expect(isLoopback(address)).toBe(false);
  });
});
