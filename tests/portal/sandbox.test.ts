import { spawnSync } from 'node:child_process';
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

describe.skipIf(!(await hasChromium()))('the sandbox console', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
    await world.newChallenge({}, developer.program);
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('the sandbox console plays an attempt whose award is held', async () => {
    const { baseUrl } = world.stack;
    await using observed = await observePage(browser, baseUrl);
    const { page } = observed;
    const answer = { status: 500, body: 'not now' };
    const hook = await world.newReceiver(developer, { events: ['attempt.settled'], answer });
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/sandbox`, 'Sandbox');

    await page.getByLabel('Add funds (USD)').fill('0.50');
    await takeStep(page, 1, 'Save the player');
    const refused = await takeStep(page, 2, 'Create an attempt');
    await refused.getByText('Fund the player under "Player", then pay again').waitFor();
    await refused.getByText('insufficient_funds', { exact: true }).waitFor();
    await page.getByLabel('Add funds (USD)').fill('20');
    await takeStep(page, 3, 'Save the player');
    await takeStep(page, 4, 'Hold the next award');
    const created = await takeStep(page, 5, 'Create an attempt');
    const link = created.getByRole('link');
    const attemptId = (await link.textContent()) ?? '';
    expect(await link.getAttribute('href')).toBe(`/portal/p/${developer.program.id}/test/attempts/${attemptId}`);
    const reported = await takeStep(page, 6, 'Report the score');
    await reported.getByText('The award of $5.00 is held for review').waitFor();

    const held = { status: 'settled', outcome: { score: 100, met_threshold: true, award: { paid_at: null } } };
    expect(expectStatus(200, await developer.program.test.getAttempt(attemptId)).body).toMatchObject(held);
    await page.getByRole('article', { name: 'attempt.settled' }).getByRole('link', { name: attemptId }).waitFor();

    const sent = await hook.event('attempt.settled', attemptId);
    await page.getByRole('button', { name: 'Take attempt.settled' }).press('Enter');
    expect(await page.getByLabel('Delivery id').inputValue()).toBe(sent.deliveryId);
    // While a send is under way the delivery cannot be retried.
    await hook.delivery(sent.deliveryId, ({ attempts }) => typeof attempts[0]?.duration_ms === 'number');
    await takeStep(page, 7, 'Retry it now');
    await hook.delivery(sent.deliveryId, ({ attempts }) => typeof attempts[1]?.duration_ms === 'number');

    const script = (await page.getByLabel('Script, curl', { exact: true }).textContent()) ?? '';
    const { apiKey } = developer.program.test;
    const env = { ...process.env, LAUREL_TEST_KEY: apiKey };
    const { stdout, stderr, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env });
    expect(status, stderr + stdout).toBe(0);
    const [, another = ''] = /^attempt (\S+)$/m.exec(stdout) ?? [];
    expect(another).not.toBe(attemptId);
    expect(expectStatus(200, await developer.program.test.getAttempt(another)).body).toMatchObject(held);
    expect(observed.objections.filter((text) => !text.includes('402'))).toEqual([]);
  });
});

/** Presses a button, and waits for the step of the console that it adds. */
async function takeStep(page: Page, number: number, button: string) {
  await page.getByRole('button', { name: button }).press('Enter');
  const step = page.getByRole('article', { name: `Step ${number}`, exact: true });
  await step.waitFor();
  return step;
}
