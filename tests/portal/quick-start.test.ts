import { createPartner, type Partner } from '@laurel/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectStatus, type Hook, type HookRequest, type SharedWorld } from '../world.ts';
import { enterText, openByKeyboard, pressEnter } from './keyboard.ts';
import { OPEN_PORTAL_MS, openPortal, placesOf } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;
/** The developer's server. No webhook endpoint has its address yet. */
let hook: Hook;

describe.skipIf(!(await hasChromium()))('the quick start, by keyboard', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
    await world.newChallenge({}, developer.program);
    hook = await world.newReceiver(developer);
    expectStatus(204, await developer.portal.deleteEndpoint(hook.endpoint.id));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('a developer goes from the sign-in link to a paid attempt and a verified webhook without leaving the portal', async () => {
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    // The only address that is typed: from here on the developer follows links.
    await page.goto(`/portal/sign-in#${await newLinkToken()}`);
    await page.getByText('0 of 6 done').waitFor();

    const key = await replaceTestKey(page);
    const partner = createPartner(world.http, key);
    const { data: challenges } = expectStatus(200, await partner.listChallenges('player-1')).body;
    expect(challenges.map(({ name }) => name)).toEqual(['Reach one hundred']);
    await openByKeyboard(page, 'Overview');
    await doneStep(page, 'Use your test key').waitFor();
    await page.getByText('1 of 6 done').waitFor();

    const secret = await addEndpoint(page);
    await openByKeyboard(page, 'Overview');
    await page.getByText('2 of 6 done').waitFor();

    const attemptId = await playAttempt(page, partner);
    await openAttempt(page, attemptId);
    const event = await hook.event('attempt.settled', attemptId);
    await openDelivery(page, event);
    await verifySignature(page, event, secret);

    await openByKeyboard(page, 'Overview');
    await page.getByRole('heading', { name: 'Quick start' }).waitFor({ state: 'detached' });
    await factOf(page, 'Fees charged').getByText('$1.00', { exact: true }).waitFor();
    await factOf(page, 'Paid out').getByText('$5.00', { exact: true }).waitFor();
    for (const hidden of [key, secret]) await expectForgotten(page, hidden);
    expect(objections).toEqual([]);
  });
});

async function newLinkToken(): Promise<string> {
  const made = await world.operator.send<{ token: string }>('POST', `/developers/${developer.id}/sign-in-link`);
  return expectStatus(201, made).body.token;
}

/** Replaces the test key, and returns the one that the page shows. */
async function replaceTestKey(page: Page): Promise<string> {
  await openByKeyboard(page, 'API keys');
  await pressEnter(page.getByRole('button', { name: 'Replace the test key' }));
  await pressEnter(page.getByRole('dialog').getByRole('button', { name: 'Replace' }));
  const key = await takeSecret(page, 'The new test key');
  expect(expectStatus(401, await developer.program.test.listChallenges('player-1')).code).toBe('unauthorized');
  return key;
}

/** Registers the developer's server for every event, and returns the signing secret. */
async function addEndpoint(page: Page): Promise<string> {
  const { url } = hook.endpoint;
  await openByKeyboard(page, 'Webhooks');
  await pressEnter(page.getByRole('button', { name: 'Add an endpoint' }));
  await enterText(page.getByLabel('URL'), url);
  await pressEnter(page.getByRole('button', { name: 'Add', exact: true }));
  const secret = await takeSecret(page, 'The signing secret');
  const { data } = expectStatus(200, await developer.portal.listEndpoints()).body;
  expect(data).toMatchObject([
    { url, events: [], program_id: developer.program.id, environment: 'test', active: true },
  ]);
  return secret;
}

/** Makes a player with money, pays for an attempt and wins it; returns its id. */
async function playAttempt(page: Page, partner: Partner): Promise<string> {
  await openByKeyboard(page, 'Sandbox');
  await enterText(page.getByLabel('Add funds (USD)'), '20');
  await pressEnter(page.getByRole('button', { name: 'Save the player' }));
  await stepOf(page, 1).getByText('$20.00 of play money was added').waitFor();
  await pressEnter(page.getByRole('button', { name: 'Create an attempt' }));
  await stepOf(page, 2).getByText('$1.00 was charged').waitFor();
  const attemptId = (await stepOf(page, 2).getByRole('link').textContent()) ?? '';
  const open = { id: attemptId, status: 'open', fee_charged: '1.00', outcome: null };
  expect(expectStatus(200, await partner.getAttempt(attemptId)).body).toMatchObject(open);

  await pressEnter(page.getByRole('button', { name: 'Report the score' }));
  await stepOf(page, 3).getByText('The award of $5.00 is paid').waitFor();
  await page.getByRole('article', { name: 'attempt.settled' }).getByRole('link', { name: attemptId }).waitFor();
  const award = { amount: '5.00', paid_at: expect.any(String) };
  expect(expectStatus(200, await partner.getAttempt(attemptId)).body).toMatchObject({
    status: 'settled',
    outcome: { score: 100, met_threshold: true, award },
  });
  return attemptId;
}

/** Opens the attempt of the console, and verifies its receipt. */
async function openAttempt(page: Page, attemptId: string): Promise<void> {
  await pressEnter(stepOf(page, 2).getByRole('link', { name: attemptId }));
  await page.getByRole('heading', { level: 1, name: 'Attempt' }).waitFor();
  await page.getByText('Won $5.00, paid').waitFor();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  for (const step of ['Fee of $1.00 charged', 'Award of $5.00 paid', 'Webhook attempt.settled sent'])
    await timeline.getByText(step).waitFor();
  await pressEnter(page.getByRole('button', { name: 'Verify in this browser' }));
  await page.getByText('The receipt names this attempt').waitFor();
}

/** Finds the event's delivery in the log of its endpoint, and opens it. */
async function openDelivery(page: Page, event: HookRequest): Promise<void> {
  await openByKeyboard(page, 'Webhooks');
  await pressEnter(page.getByRole('link', { name: hook.endpoint.url }));
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: 'attempt.settled' });
  await row.getByText('delivered', { exact: true }).waitFor();
  await pressEnter(row.getByRole('link', { name: 'attempt.settled' }));
  await page.getByRole('heading', { level: 1, name: 'Delivery' }).waitFor();
  await page.getByText('delivered', { exact: true }).waitFor();
  expect(page.url()).toContain(event.deliveryId);
}

/** Verifies the webhook that the server got: first with a wrong secret, which the page reports. */
async function verifySignature(page: Page, { headers, body }: HookRequest, secret: string): Promise<void> {
  await pressEnter(page.getByRole('button', { name: 'Verify its signature' }));
  await page.getByRole('heading', { level: 1, name: 'Signatures' }).waitFor();
  expect(await page.getByLabel('Body').inputValue()).toBe(body.toString());
  await enterText(page.getByLabel('Headers'), JSON.stringify(headers));
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await enterText(page.getByLabel('Signing secret'), `whsec_${'0'.repeat(64)}`);
  await verdict.getByRole('heading', { name: 'Not genuine', exact: true }).waitFor();
  await verdict.getByRole('heading', { name: 'No secret signed this body' }).waitFor();
  await enterText(page.getByLabel('Signing secret'), secret);
  await verdict.getByRole('heading', { name: 'Genuine', exact: true }).waitFor();
}

/** Reads the secret of the open dialog and closes it: from then on the page has forgotten it. */
async function takeSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = (await dialog.locator('pre').textContent()) ?? '';
  expect(secret.length).toBeGreaterThan(32);
  await pressEnter(dialog.getByRole('button', { name: 'I have stored it' }));
  await dialog.waitFor({ state: 'detached' });
  await expectForgotten(page, secret);
  return secret;
}

async function expectForgotten(page: Page, secret: string): Promise<void> {
  expect(await placesOf(page, secret)).toEqual([]);
  expect(await page.content()).not.toContain(secret);
}

function stepOf(page: Page, number: number) {
  return page.getByRole('article', { name: `Step ${number}`, exact: true });
}

function doneStep(page: Page, title: string) {
  return page.getByRole('listitem').filter({ hasText: `${title} is done` });
}

function factOf(page: Page, label: string) {
  return page.locator('.facts > div').filter({ hasText: label });
}
