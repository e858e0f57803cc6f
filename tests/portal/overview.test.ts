import { spawnSync } from 'node:child_process';
import type { Attempt, Outcome } from '@laurel/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, eventually, expectError, expectStatus, type SharedWorld } from '../world.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';

interface FirstSteps {
  readonly quick_start: Readonly<Record<string, string | null>>;
}

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;

describe.skipIf(!(await hasChromium()))('the overview', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('the calls of the quick start complete its steps', async () => {
    const { program } = developer;
    const challenge = await world.newChallenge({}, program);
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page } = observed;
    await signInByPassword(page, developer);
    const open = () => openPage(page, `/p/${program.id}/test`, 'Overview');

    await open();
    await page.getByText('0 of 6 done').waitFor();
    runShown(await shownCall(page, 'List the challenges'));
    await page.getByRole('button', { name: 'Link a player' }).click();
    const link = await shownCall(page, 'Link a player');
    expect(link).toContain(program.id);
    runShown(link);
    await known('player_linked_at');

    await open();
    await page.getByText('2 of 6 done').waitFor();
    const create = await shownCall(page, 'Create an attempt');
    expect(create).toContain(challenge.id);
    const attempt = JSON.parse(runShown(create)) as Attempt;
    expect(attempt).toMatchObject({ challenge_id: challenge.id, status: 'open', player_ref: 'player-1' });
    await known('attempt_created_at');

    const hook = await world.newReceiver(developer, { environment: 'test', program_id: program.id });
    await open();
    await page.getByText('4 of 6 done').waitFor();
    // A new attempt is listed a little later than it is created.
    await page.getByLabel('Report an outcome, curl').filter({ hasText: attempt.id }).waitFor();
    const outcome = JSON.parse(runShown(await shownCall(page, 'Report an outcome'))) as Outcome;
    const settled = { status: 'settled', outcome: { score: outcome.score, receipt_id: outcome.receipt_id } };
    expect(expectStatus(200, await program.test.getAttempt(attempt.id)).body).toMatchObject(settled);
    await hook.event('attempt.settled', attempt.id);
    await known('webhook_delivered_at');
    await open();
    await page.getByText('in the last 24 hours').waitFor();
    expect(await page.getByRole('heading', { name: 'Quick start' }).count()).toBe(0);
  });

  test('a frequent error links to its requests in the selected period', async () => {
    const { program } = developer;
    const body = { challenge_id: program.id, player_ref: 'player-1' };
    expectError(404, 'not_found', await program.test.createAttempt(body));
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/overview`, 'Overview');
    await page.getByRole('navigation', { name: 'Period' }).getByRole('link', { name: '7 days' }).click();
    await page.waitForURL(/overview\?hours=168$/);
    await page.getByText('in the last 7 days').waitFor();
    await page.getByRole('link', { name: 'not_found' }).click();
    await page.waitForURL(/requests\?error_code=not_found$/);
    await page
      .getByRole('table', { name: 'Requests' })
      .getByRole('link', { name: 'POST /v1/attempts', exact: true })
      .waitFor();
  });

  test('the overview shows a text in place of a number that cannot be counted', async () => {
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page } = observed;
    await page.route('**/api/portal/**/overview?**', async (route) => {
      const response = await route.fetch();
      const { money, deliveries, ...rest } = await response.json();
      const json = {
        ...rest,
        money: { ...money, fees: null, refunds: null },
        deliveries: { ...deliveries, counted_from: '2026-11-21T12:00:00.000Z' },
      };
      await route.fulfill({ response, json });
    });
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/live/overview?hours=1`, 'Overview');
    await page.getByText('No requests in the last 1 hour').waitFor();
    await page.getByText('at most 2,000 accounts and fewer than 10,000 fees').waitFor();
    await page.getByText('An endpoint has 10,000 deliveries or more').waitFor();
    expect(await page.getByText('not counted').count()).toBe(2);
  });

  /** Waits until the overview knows a step: the log is written after the responses. */
  async function known(step: string): Promise<void> {
    const path = `/programs/${developer.program.id}/overview?environment=test`;
    await eventually(
      async () =>
        expectStatus(200, await developer.portal.send<FirstSteps>('GET', path)).body.quick_start[step] ?? undefined,
      `the overview has ${step}`,
    );
  }

  /** Runs commands that the page shows, with the test key in its variable. */
  function runShown(commands: string): string {
    const env = { ...process.env, LAUREL_TEST_KEY: developer.program.test.apiKey };
    const script = `set -e\n${commands}`;
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env });
    expect(status, stderr).toBe(0);
    return stdout;
  }
});

async function shownCall(page: Page, title: string): Promise<string> {
  return (await page.getByLabel(`${title}, curl`, { exact: true }).textContent()) ?? '';
}
