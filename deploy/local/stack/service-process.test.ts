/**
 * A service starts from a checkout in any folder, also one whose name has `#`, `?` or `%`:
 * `--import` takes a URL, not a path.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './service-process.ts';

/** Starts a service as the launcher does, and prints its output. */
const START = `
import { spawnSync } from 'node:child_process';
const { serviceProcess } = await import("./deploy/local/stack/service-process.ts");
const launch = { name: 'wallet', main: process.cwd() + '/services/wallet/src/main.ts', dataDir: process.cwd(), environment: { PATH: process.env.PATH }, readyUrl: '' };
const { file, args, environment, workingDirectory } = serviceProcess(launch, { onPid: () => undefined });
const { stdout, stderr } = spawnSync(file, args, { cwd: workingDirectory, env: environment, encoding: 'utf8' });
process.stdout.write(stdout + stderr);
`;

test('the launcher starts a service from a folder whose name is not valid in a URL', () => {
  const parent = mkdtempSync(join(tmpdir(), 'laurel-folder-'));
  try {
    const checkout = join(parent, 'a#b?c%20d "e"');
    mkdirSync(join(checkout, 'services/wallet/src'), { recursive: true });
    for (const folder of ['deploy/local', 'libs/service', 'libs/telemetry']) {
      cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
    writeFileSync(join(checkout, 'services/wallet/src/main.ts'), `console.log('started in', process.cwd());`);
    writeFileSync(join(checkout, 'start.ts'), START);
    const { stdout, stderr } = spawnSync(process.execPath, ['start.ts'], { cwd: checkout, encoding: 'utf8' });
    expect(stdout + stderr).toBe(`started in ${checkout}\n`);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test('the launcher bypasses a proxy of the shell when it checks whether a service is ready', () => {
  const source = `
    import { createServer } from 'node:http';
    const { serviceProcess } = await import(${JSON.stringify(new URL('service-process.ts', import.meta.url).href)});
    const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', async () => {
      const readyUrl = 'http://127.0.0.1:' + server.address().port + '/readyz';
      const launch = { name: 'wallet', main: process.cwd() + '/services/wallet/src/main.ts', dataDir: '.', environment: {}, readyUrl };
      console.log(await serviceProcess(launch, { onPid: () => undefined }).isReady());
      process.exit();
    });`;
  const dead = 'http://127.0.0.1:1';
  const env = {
    PATH: process.env.PATH,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: dead,
    HTTPS_PROXY: dead,
    http_proxy: dead,
  };
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  });
  expect(stdout + stderr).toBe('true\n');
});

test('no source uses the pathname of its own URL as a path', () => {
  const files = globSync('{libs,services,deploy,tests,bench,docs,examples}/**/*.{ts,mjs,js}', {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/generated/**', '**/dist/**'],
  });
  expect(files.length).toBeGreaterThan(500);
  const own = /import\.meta\.url\)\s*\.pathname|['"]--(?:import|loader)['"],\s*(?:join|resolve|fileURLToPath)\(/;
  expect(files.filter((file) => own.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});
