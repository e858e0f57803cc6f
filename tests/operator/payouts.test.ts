/** What an operator decides about a held payout; each test reads the effect through `/v1`. */
import type { FullLeaderboard } from '@laurel/sdk';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, openByKeyboard, pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { dialogOf } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';
import { newHeldPayout, newHeldRank, payoutOf } from './payout-items.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator decides about held payouts', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('an operator releases a payout by keyboard from its page', async () => {
    const { award_id: awardId, attemptId, missedId, player } = await newHeldPayout(world);
    await listed(player.accountId, missedId);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Payouts');
    expect(new URL(page.url()).search).toBe('?status=held');
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: `Release ${awardId}` }) });
    await pressEnter(row.getByRole('link', { name: '$5.00' }));
    await page.getByRole('heading', { level: 1, name: 'Payout of $5.00' }).waitFor();
    await page.getByText('The account is under investigation.').waitFor();
    await page.locator('.page-header').getByText('test', { exact: true }).waitFor();
    await page.getByText(player.email).waitFor();
    await rowOf(
      page,
      'Payouts of 24 hours beside their limits',
      'Payouts to the account 0 5 within the limit',
    ).waitFor();
    await page.getByText('Award of $5.00 held for review').waitFor();
    await page.getByText('replay of 100').waitFor();
    await pressEnter(page.getByRole('button', { name: 'Verify in this browser' }));
    await page.getByText('valid', { exact: true }).waitFor();
    await rowOf(page, 'The player’s other attempts there', '40 not won').waitFor();
    await page.getByText('The account has no other payout').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);

    await page.getByText('The player has $5.00 of play money of the sandbox at once').waitFor();
    await pressEnter(page.getByRole('button', { name: 'Release' }));
    expect(await accessibilityIssues(page)).toEqual([]);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Release' }));
    await dialogOf(page).waitFor({ state: 'detached' });
    await factOf(page, 'Decided', 'released').waitFor();
    await factOf(page, 'By', 'operator').waitFor();
    await page.getByText('Award of $5.00 released and paid').waitFor();
    expect(await page.getByRole('button', { name: 'Deny' }).count()).toBe(0);
    const { outcome } = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(outcome?.award).toMatchObject({ id: awardId, amount: '5.00', paid_at: expect.any(String) });
    expect(await world.balance(player)).toBe('103.00');
    expect(await storedPayout(awardId)).toEqual({ status: 'paid', is_posted: true, decision: 'released' });
    expect(objections).toEqual([]);
  });

  test('the denial dialog shows a flag that another operator set while it was open', async () => {
    const { award_id: earlierId, player } = await newHeldPayout(world);
    expectStatus(200, await world.operator.denyPayout(earlierId, 'The replay is of another game.'));
    const { award_id: awardId, attemptId } = await newHeldPayout(world, player);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/payouts/${awardId}`, 'Payout of $5.00');
    await rowOf(page, 'Other payouts to the account', 'denied by operator').waitFor();
    await page.getByText(': The replay is of another game.').waitFor();
    await pressEnter(page.getByRole('button', { name: 'Deny' }));
    const deny = dialogOf(page).getByRole('button', { name: 'Deny' });
    expect(await deny.getAttribute('aria-disabled')).toBe('true');
    await pressEnter(deny);
    await enterText(dialogOf(page).getByLabel('Reason'), 'Two devices played this attempt.');
    expectStatus(200, await world.operator.updateAccount(player.accountId, { enforcement_flag: true }));
    await pressEnter(deny);
    await dialogOf(page)
      .getByText(/^Enforcement flag: no → yes, by operator (now|\d+ s ago)$/)
      .waitFor();
    expect(await payoutOf(world, awardId)).toMatchObject({ status: 'held' });
    await pressEnter(deny);
    await dialogOf(page).waitFor({ state: 'detached' });
    await factOf(page, 'Decided', 'denied').waitFor();
    await factOf(page, 'Reason', 'Two devices played this attempt.').waitFor();
    await page.getByText('enforcement flag').waitFor();
    expect(await payoutOf(world, awardId)).toMatchObject({
      status: 'denied',
      reason: 'under_investigation',
      decision: { decision: 'denied', operator: 'operator', reason: 'Two devices played this attempt.' },
    });
    const { outcome } = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(outcome?.award).toMatchObject({ id: awardId, amount: '5.00', paid_at: null });
    expect(await world.balance(player)).toBe('96.00');
    expect(await storedPayout(awardId)).toEqual({ status: 'denied', is_posted: false, decision: 'denied' });
    expect(objections).toEqual([]);
  });

  test('the payout of a rank shows the rank’s standing and the attempt that reached the rank', async () => {
    const { award_id: awardId, attemptId, player, roundId } = await newHeldRank(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/payouts/${awardId}`, 'Payout of $5.00');
    await factOf(page, 'Rank', '1 of 2').waitFor();
    await factOf(page, 'Best score', '90').waitFor();
    await factOf(page, 'Paid attempts', '2').waitFor();
    await page.getByRole('link', { name: attemptId }).waitFor();
    await pressEnter(page.getByRole('button', { name: 'Release' }));
    await enterText(dialogOf(page).getByLabel('Reason, if there is one'), 'The replay is sound.');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Release' }));
    await dialogOf(page).waitFor({ state: 'detached' });
    await factOf(page, 'Payout', 'paid').waitFor();
    const { data } = expectStatus(200, await world.partner.getLeaderboard(roundId, player.ref)).body as FullLeaderboard;
    expect(data[0]).toMatchObject({ player_ref: player.ref, payout_amount: '5.00', payout_status: 'paid' });
    expect(await world.balance(player)).toBe('103.00');
    expect(objections).toEqual([]);
  });

  test('a payout that another operator decided meanwhile disappears from the list of held payouts', async () => {
    const { award_id: awardId, player } = await newHeldPayout(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, '/payouts?status=held', 'Payouts');
    const denial = { body: { reason: 'The first operator was quicker.' } };
    expectStatus(200, await world.operator.send('POST', `/payouts/${awardId}/deny`, denial));
    await pressEnter(page.getByRole('button', { name: `Release ${awardId}` }));
    await dialogOf(page)
      .getByText(/^Payout: held → denied by operator on 2.+ UTC: The first operator was quicker\.$/)
      .waitFor();
    await dialogOf(page).getByText('“Release” is not possible any more.').waitFor();
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Release' }));
    await page.keyboard.press('Escape');
    // While the dialog is open, no role query finds the page behind it, so the dialog must be gone
    // first.
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Release ${awardId}` }).waitFor({ state: 'detached' });
    await openOperatorPage(page, `/payouts?status=denied&account_id=${player.accountId}`, 'Payouts');
    await page.getByText('The first operator was quicker.').waitFor();
    expect(objections).toEqual([]);
  });

  /** An attempt is listed 2 seconds after its creation. */
  async function listed(accountId: string, attemptId: string): Promise<void> {
    await expect
      .poll(async () => JSON.stringify((await world.operator.send('GET', `/attempts?account_id=${accountId}`)).body))
      .toContain(attemptId);
  }

  async function storedPayout(awardId: string): Promise<unknown> {
    const [row] = await world.stack.database('wallet').query(
      `select p.status, p.transfer_id is not null as is_posted, d.decision
       from payouts p left join payout_decisions d using (award_id) where p.award_id = $1`,
      [awardId],
    );
    return row;
  }
});

/** The value of a fact of the page. */
function factOf(page: Page, label: string, value: string): Locator {
  const fact = page.locator('.facts > div').filter({ has: page.getByText(label, { exact: true }) });
  return fact.locator('dd').getByText(value, { exact: true });
}

/** The row of a table that has this text. */
function rowOf(page: Page, table: string, row: string): Locator {
  return page.getByRole('table', { name: table }).getByRole('row', { name: row });
}
