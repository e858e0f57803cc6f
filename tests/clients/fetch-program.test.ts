/**
 * Fetches a runtime that npm does not install. The registries run on this machine; they have the
 * package, or do not respond.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { fetchProgram } from './runtimes.ts';

const NAME = 'laurel-test-program';
const OTHER_CONTENT = `sha512-${Buffer.alloc(64).toString('base64')}`;

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('a runtime from npm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-registry-'));
  let registry: Server;

  beforeAll(async () => {
    const source = join(folder, 'source');
    mkdirSync(source);
    writeFileSync(join(source, 'package.json'), JSON.stringify({ name: NAME, version: '1.0.0' }));
    const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: source,
    });
    const [{ filename, integrity }] = JSON.parse(stdout) as [{ filename: string; integrity: string }];
    const tarball = readFileSync(join(folder, filename));
    registry = createServer((request, response) => {
      if (request.url === `/${NAME}`) {
        const dist = { tarball: `${origin()}/${filename}`, integrity };
        const versions = { '1.0.0': { name: NAME, version: '1.0.0', dist } };
        response.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: '1.0.0' }, versions }));
      } else if (request.url === `/${filename}`) {
        response.end(tarball);
      } else {
        response.writeHead(404).end();
      }
    });
    await once(registry.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    registry.closeAllConnections();
    await registry[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const origin = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

  beforeEach(() => {
    vi.stubEnv('npm_config_registry', origin());
    vi.stubEnv('npm_config_cache', join(folder, 'cache'));
    vi.stubEnv('npm_config_fetch_retries', '0');
    vi.stubEnv('CI', '');
  });
  afterEach(() => vi.unstubAllEnvs());

  const wanted = { package: NAME, version: '1.0.0', integrity: OTHER_CONTENT, file: 'program' };

  test('content with a wrong checksum is a failure on every machine', async () => {
    await expect(fetchProgram(wanted)).rejects.toThrow('EINTEGRITY');
  });

  test('a runtime that cannot be downloaded is a failure only in CI', async () => {
    const unknown = { ...wanted, package: 'laurel-no-such-program' };
    expect(await fetchProgram(unknown)).toEqual({ missing: expect.stringContaining('404') });
    vi.stubEnv('CI', '1');
    await expect(fetchProgram(unknown)).rejects.toThrow(/npm did not install laurel-no-such-program@1\.0\.0: .*404/s);
  });
});
