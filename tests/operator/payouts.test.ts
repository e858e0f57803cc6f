/** What an operator decides about a held payout, with its consequence read back through `/v1`. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, openByKeyboard, pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';
import { newHeldPayout, payoutOf } from './payout-items.ts';

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

  test('by keyboard: a released payout is paid to the player, and the partner reads it as paid', async () => {
    const { award_id: awardId, attemptId, player } = await newHeldPayout(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Payouts');
    expect(new URL(page.url()).search).toBe('?status=held');
    await pressEnter(page.getByRole('button', { name: `Release ${awardId}` }));
    const dialog = dialogOf(page);
    await dialog.getByText('$5.00 of play money of the sandbox at once').waitFor();
    await dialog.getByText('The account is under investigation.').waitFor();
    await dialog.getByText(player.email).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await pressEnter(dialog.getByRole('button', { name: 'Release' }));
    await untilDecided(page, awardId);
    const { outcome } = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(outcome?.award).toMatchObject({ id: awardId, amount: '5.00', paid_at: expect.any(String) });
    expect(await world.balance(player)).toBe('104.00');
    expect(objections).toEqual([]);
  });

  test('a denial needs a reason, moves no money, and the partner still reads the payout as held', async () => {
    const { award_id: awardId, attemptId, player } = await newHeldPayout(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, '/payouts?status=held', 'Payouts');
    await pressEnter(page.getByRole('button', { name: `Deny ${awardId}` }));
    const dialog = dialogOf(page);
    const deny = dialog.getByRole('button', { name: 'Deny' });
    expect(await deny.getAttribute('aria-disabled')).toBe('true');
    await pressEnter(deny);
    expect(await payoutOf(world, awardId)).toMatchObject({ status: 'held' });
    await enterText(dialog.getByLabel('Reason'), 'Two devices played this attempt.');
    await pressEnter(deny);
    await untilDecided(page, awardId);
    expect(await payoutOf(world, awardId)).toMatchObject({
      status: 'denied',
      reason: 'under_investigation',
      decision: { decision: 'denied', operator: 'operator', reason: 'Two devices played this attempt.' },
    });
    const { outcome } = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(outcome?.award).toMatchObject({ id: awardId, amount: '5.00', paid_at: null });
    expect(await world.balance(player)).toBe('99.00');
    await openOperatorPage(page, '/payouts?status=denied', 'Payouts');
    await page.getByText('Two devices played this attempt.').waitFor();
    const rows = page.getByRole('table', { name: 'Payouts' }).locator('tbody tr');
    await page.getByRole('searchbox', { name: 'Account' }).fill(player.accountId);
    await page.getByRole('searchbox', { name: 'Account' }).press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    expect(objections).toEqual([]);
  });

  test('a payout that another operator decided while the dialog was open: it says so, and the payout is gone from the held ones', async () => {
    const { award_id: awardId } = await newHeldPayout(world);
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, '/payouts?status=held', 'Payouts');
    await pressEnter(page.getByRole('button', { name: `Release ${awardId}` }));
    await dialogOf(page).getByText('$5.00 of play money').waitFor();
    const denial = { body: { reason: 'The first operator was quicker.' } };
    expectStatus(200, await world.operator.send('POST', `/payouts/${awardId}/deny`, denial));
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Release' }));
    await dialogOf(page)
      .getByText(/^Payout: held → denied by operator on 2.+ UTC: The first operator was quicker\.$/)
      .waitFor();
    await dialogOf(page).getByText('“Release” is not possible any more.').waitFor();
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Cancel' }));
    await untilDecided(page, awardId);
  });
});

/** The dialog hides the page behind it from roles, so it has to be gone first. */
async function untilDecided(page: Page, awardId: string): Promise<void> {
  await dialogOf(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: `Release ${awardId}` }).waitFor({ state: 'detached' });
}

function dialogOf(page: Page): Locator {
  return page.getByRole('dialog');
}
