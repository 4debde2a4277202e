import { HostAllowlist } from './host-allowlist';

const surroundings = { bindHost: '127.0.0.1', port: 8000, extraAllowedHosts: ['lab.example:443'], corsOrigins: [] };

describe('HostAllowlist', () => {
  const allowlist = new HostAllowlist({ ...surroundings, corsOrigins: ['http://console.example:5173'] });

  it.each([
    '127.0.0.1',
    '127.0.0.1:8000',
    'LOCALHOST:8000',
    ' localhost ',
    '[::1]:8000',
    'lab.example:443',
    'console.example:5173',
  ])('allows %s', (host) => {
    expect(allowlist.allows(host)).toBe(true);
  });

  it.each([undefined, '', 'evil.example', '127.0.0.1:9000', 'lab.example', 'localhost.evil.example:8000'])(
    'refuses %s',
    (host) => {
      expect(allowlist.allows(host)).toBe(false);
    },
  );

  it('knows every address of the machine when it listens on all of them', () => {
    expect(new HostAllowlist({ ...surroundings, bindHost: '0.0.0.0' }).allows('127.0.0.1:8000')).toBe(true);
  });

  it.each([undefined, 'http://localhost:8000', 'https://LOCALHOST:8000', 'http://console.example:5173'])(
    'lets a page of %s in',
    (origin) => {
      expect(allowlist.allowsOrigin(origin, 'localhost:8000')).toBe(true);
    },
  );

  it.each([
    'null',
    '',
    'http://localhost:9000',
    'http://evil.example',
    'http://localhost:8000@evil.example',
    'ftp://localhost:8000',
  ])('keeps a page of "%s" out', (origin) => {
    expect(allowlist.allowsOrigin(origin, 'localhost:8000')).toBe(false);
  });
});
