import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { install } from '../compose/engine.ts';

/**
 * A stand-in for apt-get. It fails while another one holds the lock of the package lists; an
 * installation creates the program.
 */
const APT_GET = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> commands
mkdir lists.lock || exit 100
case " $* " in *' install '*) touch program ;; esac
rmdir lists.lock
`;

test.runIf(process.getuid?.() === 0)(
  'two test workers that install the same program at once install it once',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'laurel-apt-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'apt-get'), APT_GET);
    chmodSync(join(folder, 'apt-get'), 0o755);
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());

    const program = join(folder, 'program');
    await Promise.all([install(program, ['a-package']), install(program, ['a-package'])]);
    const commands = readFileSync(join(folder, 'commands'), 'utf8').trimEnd().split('\n');
    expect(commands.map((command) => command.split(' ').slice(3))).toEqual([
      ['update'],
      ['install', '-y', '--no-install-recommends', 'a-package'],
    ]);
  },
);
