import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

async function run(environment: Readonly<Record<string, string>>) {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache'), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { code, stderr, lines: lines.map((line) => JSON.parse(line)) };
}

test('a service that fails to start ends the process with a log line that names the service and the reason', async () => {
  const url = process.env.LAUREL_TEST_POSTGRES_URL ?? '';
  const { code, lines } = await run({ LAUREL_SERVICES: 'wallet,webhook', ...SECRETS, ...databases(url) });
  expect(code).toBe(1);
  const fatal = lines.filter(({ level }) => level === 'fatal');
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toMatchObject({ service: 'one-process', msg: 'could not start' });
  expect(fatal[0].err.message).toContain('wallet could not start');
  expect(fatal[0].err.message).toContain('grants.sql');
});

test('an invalid configuration prints the issues of all services and exits 1', async () => {
  const { code, stderr, lines } = await run({ LAUREL_SERVICES: 'wallet,webhook', ADMIN_PORT: '0' });
  expect(code).toBe(1);
  expect(lines).toEqual([]);
  expect(stderr).toContain('wallet: WALLET_DATABASE_URL: is required\n');
  expect(stderr).toContain('webhook: WEBHOOK_SECRET_KEY: is required\n');
});

const SECRETS = { WEBHOOK_SECRET_KEY: Buffer.alloc(32).toString('base64'), NATS_URL: 'nats://127.0.0.1:1' };

function databases(url: string) {
  return { WALLET_DATABASE_URL: url, WEBHOOK_DATABASE_URL: url };
}
