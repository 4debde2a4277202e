import { HostAllowlist } from './host-allowlist';

describe('HostAllowlist', () => {
  const allowlist = new HostAllowlist('127.0.0.1', 8000, ['lab.example:443']);

  it.each(['127.0.0.1', '127.0.0.1:8000', 'LOCALHOST:8000', ' localhost ', '[::1]:8000', 'lab.example:443'])(
    'allows %s',
    (host) => {
      expect(allowlist.allows(host)).toBe(true);
    },
  );

  it.each([undefined, '', 'evil.example', '127.0.0.1:9000', 'lab.example', 'localhost.evil.example:8000'])(
    'refuses %s',
    (host) => {
      expect(allowlist.allows(host)).toBe(false);
    },
  );

  it('knows every address of the machine when it listens on all of them', () => {
    expect(new HostAllowlist('0.0.0.0', 8000, []).allows('127.0.0.1:8000')).toBe(true);
  });
});
