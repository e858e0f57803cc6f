import { push as sendPush } from '@laurel/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;

describe.skipIf(!(await hasChromium()))('the integrations of the portal', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('a developer creates an integration, activates it and rotates its secret', async () => {
    const partner = developer.program.test;
    const challenge = await world.newChallenge({}, developer.program);
    const player = await world.newPlayer({ partner });
    const attempt = { challenge_id: challenge.id, player_ref: player.ref };
    const { id: attemptId } = expectStatus(201, await partner.createAttempt(attempt)).body;
    const body = JSON.stringify({ attempt_id: attemptId, score: 120 });

    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/integrations`, 'Integrations');
    await page.getByRole('button', { name: 'New integration' }).press('Enter');
    await page.getByRole('button', { name: 'Create the draft' }).press('Enter');
    const secret = await readSecret(page, 'The signing secret');
    await page.getByRole('link', { name: 'Push', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Integration', exact: true }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await push(id, body, secret)).toBe(404);

    await change(page, 'Activate', 'settles an attempt, and may pay an award');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await push(id, body, secret)).toBe(200);
    const settled = expectStatus(200, await partner.getAttempt(attemptId)).body;
    expect(settled).toMatchObject({ status: 'settled', outcome: { score: 120, met_threshold: true } });

    await change(page, 'Rotate the secret', 'still verifies until you retire it', 'Rotate');
    const next = await readSecret(page, 'The new signing secret');
    expect([await push(id, body, secret), await push(id, body, next)]).toEqual([200, 200]);
    await change(page, 'Retire the previous secret', 'gets 401 at once', 'Retire');
    expect([await push(id, body, secret), await push(id, body, next)]).toEqual([401, 200]);
    for (const shown of [secret, next]) expect(await page.content()).not.toContain(shown);

    await page.reload();
    const log = page.getByRole('table', { name: 'Pushes and polls' });
    await log.getByText('1 settled', { exact: true }).waitFor();
    expect(objections).toEqual([]);
  });

  test('a dry run marks the pointer that failed', async () => {
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/integrations`, 'Integrations');
    await page.getByRole('textbox', { name: 'Descriptor' }).fill('{"version": 1, "map": {"score": "/run/points"}');
    await page.getByText('Not valid JSON').waitFor();
    await page.getByRole('textbox', { name: 'Descriptor' }).fill('{"version": 1, "map": {"score": "/run/points"}}');
    const sample = { attempt_id: crypto.randomUUID(), run: { pointz: 3 } };
    await page.getByLabel('A body as your server would send it').fill(JSON.stringify(sample));
    await page.getByRole('button', { name: 'Run dry' }).press('Enter');
    const record = page.getByRole('article', { name: 'Record 0' });
    await record.waitFor();
    const marked = await record.locator('mark').allTextContents();
    expect(marked.map((text) => text.split('←')[0]?.trim())).toEqual(['"score": "/run/points"', '"run": {']);
    expect(objections).toEqual([]);
  });
});

/** Confirms a change after its consequence was read. */
async function change(page: Page, action: string, consequence: string, verb = action): Promise<void> {
  await page.getByRole('button', { name: action, exact: true }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText(consequence).waitFor();
  await dialog.getByRole('button', { name: verb, exact: true }).press('Enter');
  await dialog.getByText(consequence).waitFor({ state: 'detached' });
}

async function readSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = (await dialog.locator('pre').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have stored it' }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
  return secret;
}

async function push(id: string, body: string, secret: string): Promise<number> {
  return (await sendPush(world.http, { id, secret }, body)).status;
}
