import { spawnSync } from 'node:child_process';
import type { Attempt } from '@laurel/sdk';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectError, expectStatus, type SharedWorld } from '../world.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;

describe.skipIf(!(await hasChromium()))('the request log', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('a request appears live, with a command on its page that repeats the request', async () => {
    const { program } = developer;
    const { id: challengeId } = await world.newChallenge({}, program);
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/requests?route=${encodeURIComponent('/v1/attempts')}`, 'Requests');
    await page.getByText('No request matches these filters').waitFor();

    const player = await world.newPlayer({ partner: program.test });
    const body = { challenge_id: challengeId, player_ref: player.ref };
    const attempt = expectStatus(201, await program.test.createAttempt(body, 'match-1')).body;
    // A list without rows shows its first rows at once; later rows wait until the reader asks for
    // them.
    const links = page.getByRole('table', { name: 'Requests' }).getByRole('link', { name: 'POST /v1/attempts' });
    await links.waitFor();
    expectStatus(201, await program.test.createAttempt(body, 'match-1'));
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByText('replayed').waitFor();
    await links.last().click();
    await page.getByRole('heading', { level: 1, name: 'Request', exact: true }).waitFor();
    expect(JSON.parse((await page.getByLabel('Request body, text', { exact: true }).textContent()) ?? '')).toEqual(
      body,
    );
    const response = (await page.getByLabel('Response body, text', { exact: true }).textContent()) ?? '';
    expect(JSON.parse(response)).toEqual(attempt);
    const link = page.getByRole('link', { name: attempt.id, exact: true });
    expect(await link.getAttribute('href')).toBe(`/portal/p/${program.id}/test/attempts/${attempt.id}`);

    const command = (await page.getByLabel('The same request, curl', { exact: true }).textContent()) ?? '';
    expect(command).not.toContain(program.test.apiKey);
    const again = JSON.parse(runShown(command)) as Attempt;
    // The command repeated the idempotency key of the request, so nothing was charged again.
    expect(again).toEqual(attempt);
    expect(await world.balance(player)).toBe('99.00');
    expect(objections).toEqual([]);
  });

  test('filters are kept in the address', async () => {
    const { program } = developer;
    const unknown = `${crypto.randomUUID()}@example.com`;
    expectError(404, 'not_found', await program.test.linkPlayer('player-9', unknown));
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/requests`, 'Requests');
    await page.getByLabel('Error code').fill('not_found');
    await page.getByLabel('Error code').press('Enter');
    await page.waitForURL(/error_code=not_found/);
    await page.reload();
    const refused = page.getByRole('table', { name: 'Requests' }).locator('tbody tr');
    await refused.first().waitFor();
    expect(await refused.count()).toBe(1);
    await page.getByRole('link', { name: 'POST /v1/players' }).click();
    await page.getByText('in place of secrets and e-mails').waitFor();
    expect(await page.content()).not.toContain(unknown);
    await page.getByRole('link', { name: 'not_found' }).click();
    await page.waitForURL(/requests\?error_code=not_found/);
  });

  /** Runs a command that the page shows, with the test key in its variable. */
  function runShown(command: string): string {
    const env = { ...process.env, LAUREL_TEST_KEY: developer.program.test.apiKey };
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', env });
    expect(status, stderr).toBe(0);
    return stdout;
  }
});
