/**
 * `npm run screenshots` writes the pictures of the portal in docs/portal/, from the stack of
 * `npm start` after `npm run demo`. It plays attempts in the sandbox console first, so that each
 * page has something to show.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  callStack,
  findRunningStack,
  type RunningStack,
  StackFailure,
} from '@laurel/local-infrastructure/running-stack';
import type { Locator, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../clients/chromium.ts';
import { smallPng } from './small-png.ts';

interface Known {
  readonly demo: {
    readonly program_id: string;
    readonly challenge_id: string;
    readonly developer: { readonly email: string; readonly password: string };
  };
  readonly webhook_ca: { readonly receiver_certificate: string; readonly receiver_key: string };
}

const FOLDER = fileURLToPath(new URL('../../docs/portal/', import.meta.url));
const VIEWPORT = { width: 1200, height: 750 };
/** The page draws the chart of scores from ten scores on. */
const SCORES = [1_200, 640, 1_450, 980, 1_340, 1_510, 720, 1_120, 890, 1_275, 1_060, 1_010];

async function takeScreenshots(): Promise<void> {
  const stack = await findRunningStack<Known>();
  const { origin, demo } = stack;
  if (!(await hasChromium())) throw new StackFailure('The pictures need Chromium.');
  await using cleanup = new AsyncDisposableStack();
  const browser = await launchChromium();
  cleanup.defer(() => browser.close());
  const context = await browser.newContext({ baseURL: origin, viewport: VIEWPORT, colorScheme: 'light' });
  const page = await context.newPage();
  const open = async (path: string) => {
    await page.goto(`/portal/p/${demo.program_id}/test${path}`);
    await settled(page);
  };

  await page.goto('/portal/sign-in');
  await page.getByLabel('E-mail').fill(demo.developer.email);
  await page.getByLabel('Password').fill(demo.developer.password);
  await press(page.getByRole('button', { name: 'Sign in' }));
  await page.getByRole('button', { name: 'Sign out' }).waitFor();

  await takeWithWebhooks(page, stack, open);
  await open(`/challenges/${demo.challenge_id}`);
  await take(page, 'challenge');
  await open('/overview');
  await take(page, 'overview');
}

/** Plays attempts and shows one, while an endpoint gets its webhooks. */
async function takeWithWebhooks(
  page: Page,
  { origin, demo, webhook_ca: files }: RunningStack<Known>,
  open: (path: string) => Promise<void>,
): Promise<void> {
  await using receiver = await startReceiver(files);
  await using _endpoint = await addEndpoint(origin, demo, receiver.url);
  await open('/sandbox');
  for (const [index, score] of SCORES.entries()) await playAttempt(page, { index, score, demo });
  await page.evaluate('scrollTo(0, 0)');
  await take(page, 'sandbox');
  await press(page.getByRole('article').getByRole('link').first());
  await page.getByRole('heading', { level: 1, name: 'Attempt' }).waitFor();
  await settled(page);
  await take(page, 'attempt');
  await open(`/deliveries/${await receiver.refused}`);
  await press(page.getByRole('button', { name: 'Try again now' }));
  await page.getByRole('table', { name: 'Parts of send 2' }).waitFor();
  await settled(page);
  await take(page, 'delivery');
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** The id of the delivery whose first send failed. */
  readonly refused: Promise<string>;
}

/** A partner's server that is too busy for its first webhook, and accepts all others. */
async function startReceiver(files: Known['webhook_ca']): Promise<Receiver> {
  const refused = Promise.withResolvers<string>();
  let webhooks = 0;
  const tls = { cert: readFileSync(files.receiver_certificate), key: readFileSync(files.receiver_key) };
  const server = createServer(tls, (request, response) => {
    request.resume();
    webhooks += 1;
    if (webhooks > 1) return response.writeHead(204).end();
    refused.resolve(String(request.headers['x-webhook-delivery-id']));
    return response.writeHead(503, { 'content-type': 'text/plain' }).end('busy: try again later');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    refused: refused.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Registers the receiver as an endpoint. */
async function addEndpoint(origin: string, demo: Known['demo'], url: string): Promise<AsyncDisposable> {
  const path = '/api/portal/webhook-endpoints';
  const signIn = { method: 'POST', path: '/api/portal/session', body: demo.developer, expect: 201 } as const;
  const headers = { authorization: `Bearer ${(await callStack(origin, signIn)).body.token}` };
  const body = { url, events: ['attempt.settled'], program_id: demo.program_id, environment: 'test' };
  const { id } = (await callStack(origin, { method: 'POST', path, headers, body, expect: 201 })).body;
  return {
    async [Symbol.asyncDispose]() {
      await callStack(origin, { method: 'DELETE', path: `${path}/${id}`, headers, expect: 204 });
    },
  };
}

interface Play {
  readonly index: number;
  readonly score: number;
  readonly demo: Known['demo'];
}

/** Takes three steps of the console: a player with money, an attempt, its score. */
async function playAttempt(page: Page, { index, score, demo }: Play): Promise<void> {
  const step = (number: number) =>
    page.getByRole('article', { name: `Step ${3 * index + number}`, exact: true }).waitFor();
  await page.getByLabel('Player ref').fill(`sandbox-${Date.now().toString(36)}`);
  await page.getByLabel('To play').selectOption(demo.challenge_id);
  await press(page.getByRole('button', { name: 'Save the player' }));
  await step(1);
  await press(page.getByRole('button', { name: 'Create an attempt' }));
  await step(2);
  await page.getByLabel('Score').fill(String(score));
  await press(page.getByRole('button', { name: 'Report the score' }));
  await step(3);
}

async function press(element: Locator): Promise<void> {
  await element.press('Enter');
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

async function take(page: Page, name: string): Promise<void> {
  const bytes = await smallPng(page);
  writeFileSync(`${FOLDER}${name}.png`, bytes);
  process.stdout.write(`docs/portal/${name}.png, ${Math.round(bytes.length / 1_000)} KB\n`);
}

await takeScreenshots();
