import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStack } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedDemo } from '../stack/seed.ts';
import { keepWebhookCa } from '../stack/webhook-ca.ts';

const DEMO = fileURLToPath(new URL('demo.ts', import.meta.url));

let dataDirectory: string;
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'laurel-demo-'));
});
afterAll(() => rm(dataDirectory, { recursive: true, force: true }));

async function playDemo(): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [DEMO], { env: { PATH: process.env.PATH, LAUREL_DATA_DIR: dataDirectory } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test('the demo reports in one sentence that the stack is not running', async () => {
  const never = await playDemo();
  expect(never.code).toBe(1);
  expect(never.output.trim()).toMatch(/^The stack is not running \(no .*ready\.json\): run `npm start` .*\.$/);

  const ready = { base_url: 'http://127.0.0.1:9/v1', operator_token: 'a token of an operator' };
  await writeFile(join(dataDirectory, 'ready.json'), JSON.stringify(ready));
  const gone = await playDemo();
  expect(gone.code).toBe(1);
  expect(gone.output.trim()).toMatch(/^The stack is not running at http:\/\/127\.0\.0\.1:9: run `npm start` .*\.$/);
});

test('the demo runs repeatedly on one stack, and shows no key', async () => {
  await using stack = await startStack();
  const { baseUrl, operatorToken } = stack;
  const demo = await seedDemo({ baseUrl: `${baseUrl}/v1`, operatorToken });
  await mkdir(join(dataDirectory, 'webhook-ca'));
  await writeFile(join(dataDirectory, 'webhook-ca', 'certificate.pem'), stack.ca.certificate);
  await writeFile(join(dataDirectory, 'webhook-ca', 'key.pem'), stack.ca.key);
  const webhookCa = await keepWebhookCa(dataDirectory);
  const ready = { base_url: `${baseUrl}/v1`, operator_token: operatorToken, demo, webhook_ca: webhookCa };
  await writeFile(join(dataDirectory, 'ready.json'), JSON.stringify(ready));
  const asDeveloper = await signIn(baseUrl, demo.developer);
  const endpoints = `${baseUrl}/api/portal/webhook-endpoints`;
  // The endpoint that an interrupted demo leaves behind.
  const leftOver = { url: 'https://127.0.0.1:9443/', events: [], description: 'npm run demo' };
  const created = await fetch(endpoints, { method: 'POST', headers: asDeveloper, body: JSON.stringify(leftOver) });
  expect(created.status).toBe(201);

  for (let time = 0; time < 2; time += 1) {
    const { code, output } = await playDemo();
    expect(code, output).toBe(0);
    expect(output).toMatch(
      /Done: demo-player-\w+ paid three times, was refunded once, won once, and has 22\.00 now\.\n$/,
    );
    const secrets = [operatorToken, demo.test_key, demo.live_key, demo.developer.password];
    for (const secret of secrets) expect(output).not.toContain(secret);
    expect(output).not.toMatch(/whsec_[0-9a-f]{64}/);
    expect(output.match(/"signing_secret": "[0-9a-f]{4}…[0-9a-f]{4}"/g)).toHaveLength(1);
    expect(output).not.toMatch(/"signing_secret": "[0-9a-f]{64}"/);
    expect(output).toMatch(/⇠ poll GET \/runs\n {2}authorization: Bearer \*{4}\n/);
    expect(output.match(/ {2}the signature was verified/g)).toHaveLength(11);
    expect(output).not.toContain('the signature was REFUSED');
    const listed = await fetch(endpoints, { headers: asDeveloper });
    expect(await listed.json()).toEqual({ data: [] });
    expect(await integrationsOf(baseUrl, demo.test_key)).toEqual([
      { transport: 'pull_poll', status: 'suspended', consecutive_failures: 0 },
      { transport: 'push_webhook', status: 'suspended', consecutive_failures: 0 },
    ]);
  }
}, 180_000);

async function signIn(baseUrl: string, developer: object): Promise<Record<string, string>> {
  const answer = await fetch(`${baseUrl}/api/portal/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(developer),
  });
  const { token } = (await answer.json()) as { token: string };
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

async function integrationsOf(baseUrl: string, key: string): Promise<readonly object[]> {
  const answer = await fetch(`${baseUrl}/v1/integrations`, { headers: { 'x-api-key': key } });
  const { data } = (await answer.json()) as { data: Record<string, unknown>[] };
  return data.map(({ transport, status, consecutive_failures }) => ({ transport, status, consecutive_failures }));
}
