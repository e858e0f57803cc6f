/**
 * The samples in the SDK's README, copied as a partner would: written to files, run by Node, and
 * sent genuine and bad requests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { signWebhook } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../world.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const README = join(ROOT, 'libs/sdk/README.md');
const SECRET = 'whsec_of_the_samples';
const BODY = '{"event":"webhook.test","timestamp":"2026-01-31T12:00:00.000Z","data":{"message":"Grüße \\u00fc"}}';

let directory: string;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'laurel-samples-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
});

afterAll(async () => {
  for (const child of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await rm(directory, { recursive: true });
});

/** Writes the code block below a heading of the README to a file, and returns its path. */
async function writeSample(heading: string, name: string): Promise<string> {
  const section = (await readFile(README, 'utf8')).split(`\n### ${heading}\n`)[1] ?? '';
  const code = /```js\n([\s\S]*?)```/.exec(section)?.[1];
  if (code === undefined) throw new Error(`the README has no sample below ${heading}`);
  const file = join(directory, name);
  await writeFile(file, code);
  return file;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

type Send = (request: Request) => Promise<Response>;

/** Runs a sample that listens, and resolves once it does. */
async function start(file: string): Promise<Send> {
  const port = await findFreePort();
  const env = { ...process.env, LAUREL_WEBHOOK_SECRET: SECRET, PORT: String(port) };
  const child = spawn(join(ROOT, 'node_modules/.bin/node'), [file], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  processes.push(child);
  const base = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(base).catch(() => undefined), `${file} listens`);
  return (request) => fetch(`${base}/webhooks`, request);
}

async function expectVerifies(send: Send): Promise<void> {
  const deliver = async (body: string, signature?: string) => {
    const headers = { 'content-type': 'application/json', ...(signature && { 'x-webhook-signature': signature }) };
    const answer = await send(new Request('http://sample/webhooks', { method: 'POST', body, headers }));
    return [answer.status, answer.status === 204 ? null : ((await answer.json()) as { error: string }).error];
  };
  const genuine = await signWebhook(BODY, SECRET);
  expect(await deliver(BODY, genuine)).toEqual([204, null]);
  expect(await deliver(BODY.replace('12:00', '13:00'), genuine)).toEqual([400, 'signature_mismatch']);
  // The same JSON in other bytes: a sample that parsed and rewrote the body would accept it.
  expect(await deliver(JSON.stringify(JSON.parse(BODY)), genuine)).toEqual([400, 'signature_mismatch']);
  expect(await deliver(BODY, await signWebhook(BODY, 'whsec_another'))).toEqual([400, 'signature_mismatch']);
  expect(await deliver(BODY)).toEqual([400, 'signature_missing']);
  expect(await deliver(BODY, 'sha256=nonsense')).toEqual([400, 'signature_malformed']);
}

describe('the webhook samples of the SDK’s README', () => {
  it('the sample for Express accepts a genuine webhook and refuses others', async () => {
    await expectVerifies(await start(await writeSample('Express 5', 'express.mjs')));
  });

  it('the sample for Fastify accepts a genuine webhook and refuses others', async () => {
    await expectVerifies(await start(await writeSample('Fastify 5', 'fastify.mjs')));
  });

  it('the sample for Next accepts a genuine webhook and refuses others', async () => {
    const file = await writeSample('Next, app router', 'route.mjs');
    vi.stubEnv('LAUREL_WEBHOOK_SECRET', SECRET);
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      // A handler of the app router is a function of Fetch's Request and Response.
      const { POST } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { POST: Send };
      await expectVerifies(POST);
    } finally {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    }
  });
});
