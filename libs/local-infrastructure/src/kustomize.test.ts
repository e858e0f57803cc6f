import { expect, test } from 'vitest';
import { debianMirror } from './debian-program.ts';
import { installedRenderCommand } from './kustomize.ts';

const KEPT = '/data/bin/kustomize';

const machine = (executables: readonly string[]) => ({
  searchPath: '/usr/local/bin:/usr/bin',
  isExecutable: (file: string) => executables.includes(file),
});

test('kustomize on the search path takes precedence over kubectl and a fetched copy', () => {
  const all = ['/usr/bin/kustomize', '/usr/local/bin/kubectl', KEPT];
  expect(installedRenderCommand(machine(all), KEPT)).toEqual(['/usr/bin/kustomize', 'build']);
  expect(installedRenderCommand(machine(all.slice(1)), KEPT)).toEqual(['/usr/local/bin/kubectl', 'kustomize']);
  expect(installedRenderCommand(machine([KEPT]), KEPT)).toEqual([KEPT, 'build']);
  expect(installedRenderCommand(machine([]), KEPT)).toBeUndefined();
});

test('a package of another Debian suite comes from the mirror that the machine uses', () => {
  const security = 'http://mirror.example.com/debian-security/';
  expect(debianMirror(`${security}\nhttp://mirror.example.com/debian/\n`)).toBe('http://mirror.example.com/debian/');
  expect(debianMirror(`${security}\nhttp://archive.ubuntu.com/ubuntu/\n`)).toBe('http://deb.debian.org/debian');
});
