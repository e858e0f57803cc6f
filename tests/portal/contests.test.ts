/** The pages of challenges, tournaments and rounds, compared with what `/v1` returns. */
import type { FullLeaderboard } from '@laurel/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';
import { newPlayedChallenge, newPlayedRound } from './contest-items.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;

describe.skipIf(!(await hasChromium()))('the contests of a program in the portal', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('the page of a challenge shows its bar, prize and scores', async () => {
    const challenge = await newPlayedChallenge(world, developer);
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/challenges`, 'Challenges');
    await page.getByLabel('Status').selectOption('suspended');
    await page.getByText('No challenge is suspended').waitFor();
    expect(new URL(page.url()).search).toBe('?status=suspended');
    await page.getByLabel('Status').selectOption('live');
    await page.getByRole('link', { name: challenge.name }).click();
    await page.getByRole('heading', { level: 1, name: challenge.name }).waitFor();

    expect([challenge.threshold, challenge.prize]).toEqual([100, '5.00']);
    expect(await factOf(page, 'Bar')).toBe('100 points or more');
    expect(await factOf(page, 'Prize on offer')).toBe('$5.00');
    const scores = page.getByRole('figure', { name: 'Scores' });
    await scores.getByText('The scores of all 60 settled paid attempts.').waitFor();
    expect(await scores.getByRole('img').getAttribute('aria-label')).toContain('Bar: 100 points');
    await scores.getByText('Show as a table').click();
    const counts = await scores.locator('tbody tr td:nth-child(3)').allTextContents();
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(60);

    const cursor = scores.getByRole('slider', { name: 'Values: Scores' });
    await cursor.press('Home');
    expect(await cursor.getAttribute('aria-valuetext')).toMatch(/^40 to .+ points\. Count: 6, Share: 10\.0 %$/);
    await page.getByText('20.0 % of 60 settled paid attempts cleared the bar').waitFor();

    // A link with the wrong environment leads to the challenge in its own environment.
    await page.goto(`/portal/p/${developer.program.id}/live/challenges/${challenge.id}`);
    await page.waitForURL(`**/test/challenges/${challenge.id}`);
    await page.getByText('Sandbox players, no real money').waitFor();
    expect(objections).toEqual([]);
  });

  test('only a settled round shows its players', async () => {
    const { round, players } = await newPlayedRound(world, developer);
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/tournaments/${round.tournament_id}`, 'Harbour cup');
    await page.getByRole('table', { name: 'Rounds' }).getByRole('link', { name: / UTC$/ }).click();
    await page.getByText('Only counts until the round is over').waitFor();
    expect(await factOf(page, 'Players with a score')).toBe('3');
    const text = await page.content();
    for (const { ref } of players) expect(text).not.toContain(ref);

    const { test: partner } = developer.program;
    expectStatus(200, await partner.closeRound(round.id));
    await page.reload();
    const rows = page.getByRole('table', { name: 'Standings' }).locator('tbody tr');
    await rows.first().waitFor();
    const { data } = expectStatus(200, await partner.getLeaderboard(round.id, players[0]?.ref)).body as FullLeaderboard;
    expect(data.map(({ payout_amount }) => payout_amount)).toEqual(['5.00', '3.00', '2.00']);
    const shown = await Promise.all((await rows.all()).map((row) => row.locator('td').allTextContents()));
    expect(shown.map(([rank, player, score, , , , payout, status]) => [rank, player, score, payout, status])).toEqual(
      data.map((row) => [
        String(row.final_rank),
        row.player_ref,
        String(row.best_score),
        `$${row.payout_amount}`,
        row.payout_status,
      ]),
    );
    expect(objections).toEqual([]);
  });
});

/** The value of one of the facts at the top of a page. */
async function factOf(page: Page, label: string): Promise<string> {
  const fact = page.locator('.facts > div').filter({ has: page.getByText(label, { exact: true }) });
  return (await fact.locator('dd').first().textContent()) ?? '';
}
