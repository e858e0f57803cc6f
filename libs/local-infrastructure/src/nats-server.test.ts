import { expect, test } from 'vitest';
import { type Machine, NATS_RELEASE, natsSources } from './nats-server.ts';

const machine = (executables: readonly string[], overrides: Partial<Machine> = {}): Machine => ({
  platform: 'linux',
  architecture: 'x64',
  searchPath: '/usr/local/bin:/usr/bin',
  keptFile: '/data/bin/nats-server',
  isExecutable: (file) => executables.includes(file),
  ...overrides,
});
const release = (build: string) => ({
  kind: 'release',
  url: `https://github.com/nats-io/nats-server/releases/download/v${NATS_RELEASE.version}/nats-server-v${NATS_RELEASE.version}-${build}.tar.gz`,
  sha256: NATS_RELEASE.sha256[build],
});

test('a nats-server on the search path takes precedence over a fetched copy', () => {
  expect(natsSources(machine(['/usr/bin/nats-server', '/data/bin/nats-server']))).toEqual([
    { kind: 'installed', file: '/usr/bin/nats-server' },
  ]);
});

test('a nats-server is fetched only once', () => {
  expect(natsSources(machine(['/data/bin/nats-server', '/usr/bin/apt-get', '/usr/bin/dpkg-deb']))).toEqual([
    { kind: 'installed', file: '/data/bin/nats-server' },
  ]);
});

test('nats-server comes from the Debian package on Debian, and from the release if apt fails', () => {
  expect(natsSources(machine(['/usr/bin/apt-get', '/usr/bin/dpkg-deb']))).toEqual([
    { kind: 'debian' },
    release('linux-amd64'),
  ]);
});

test('nats-server comes from the release for the machine on other systems', () => {
  expect(natsSources(machine([], { architecture: 'arm64' }))).toEqual([release('linux-arm64')]);
});

test('no nats-server is fetched for a machine without a pinned checksum', () => {
  expect(natsSources(machine([], { platform: 'darwin', architecture: 'arm64' }))).toEqual([]);
});
