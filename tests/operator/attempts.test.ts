/** A player complains: an operator finds the attempt by any id, and acts on it. */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues, fitsWindow } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { newComplaint, newOpenAttempt } from './attempt-items.ts';
import { dialogOf } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const PHONE = { width: 390, height: 800 };

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator answers a complaint', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('the id of a receipt, award or attempt leads to its page in one step, by keyboard on a phone', async () => {
    const { attemptId, receiptId, award_id: awardId, player, missedId } = await newComplaint(world);
    await using observed = await observePage(browser, origin, { viewport: PHONE });
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    for (const [id, path] of [
      [receiptId, `/operator/attempts/${attemptId}`],
      [awardId, `/operator/payouts/${awardId}`],
      [attemptId.toUpperCase(), `/operator/attempts/${attemptId}`],
    ] as const) {
      await search(page, id);
      await untilLed(page, path);
    }
    await page.getByRole('heading', { level: 1, name: 'Attempt', exact: true }).waitFor();
    for (const text of [
      'Won $5.00, held for review',
      'Award of $5.00 held for review',
      'The account is under investigation.',
      player.email,
      '"replay": "replay of 100"',
    ])
      await page.getByText(text).first().waitFor();
    await pressEnter(page.getByRole('button', { name: 'Verify in this browser' }));
    await page.getByText('valid', { exact: true }).waitFor();
    const others = page.getByRole('table', { name: 'The player’s other attempts there' });
    await others.locator(`a[href$="${missedId}"]`).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    expect(await fitsWindow(page)).toBe(true);
    expect(objections).toEqual([]);
  });

  test('the search for a player_ref asks for the program of the player', async () => {
    const { attemptId, player } = await newComplaint(world);
    const { id: programId } = world.program;
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await search(page, player.ref);
    await page.getByRole('heading', { name: 'In which program is it a player_ref?' }).waitFor();
    await page.getByLabel('Program', { exact: true }).selectOption(programId);
    await pressEnter(page.getByRole('button', { name: 'Search there' }));
    await untilListed(page, attemptId);
    const filters = Object.fromEntries(new URL(page.url()).searchParams);
    expect(filters).toEqual({ program_id: programId, environment: 'test', player_ref: player.ref });
    await page.goto(`/operator/programs/${programId}`);
    await page.getByRole('heading', { level: 2, name: 'Keys' }).waitFor();
    await search(page, player.ref);
    await untilListed(page, attemptId);
    await pressEnter(page.getByRole('table').locator(`a[href$="${attemptId}"]`));
    await page.getByText('Won $5.00, held for review').waitFor();
    expect(objections).toEqual([]);
  });

  test('the search page says when nothing has an id', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await search(page, randomUUID());
    await page.getByText('Nothing has this id or e-mail').waitFor();
    const { attemptId } = await newOpenAttempt(world);
    const found = await world.operator.send<object>('GET', `/search?q=${attemptId}`);
    const json = { ...expectStatus(200, found).body, missing: ['account', 'award'] };
    await page.route('**/api/operator/search?*', (route) => route.fulfill({ json }));
    await search(page, attemptId);
    await page.getByText('nothing is known of: account, award').waitFor();
    await page.getByRole('table').getByRole('link', { name: 'Attempt', exact: true }).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.unroute('**/api/operator/search?*');
    await pressEnter(page.getByRole('button', { name: 'Search again' }));
    await page.waitForURL(`**/operator/attempts/${attemptId}`);
  });

  test('a void needs a reason and refunds the fee', async () => {
    const { attemptId, player } = await newOpenAttempt(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/attempts/${attemptId}`, 'Attempt');
    await pressEnter(page.getByRole('button', { name: 'Void the attempt' }));
    const dialog = dialogOf(page);
    await dialog.getByText('the fee of $1.00 in play money of the sandbox back at once').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    const confirm = dialog.getByRole('button', { name: 'Void', exact: true });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await enterText(dialog.getByLabel('Reason'), 'The game crashed.');
    await pressEnter(confirm);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('It is voided.').waitFor();
    await page.getByText('Fee of $1.00 returned').waitFor();
    await page.getByRole('table', { name: 'Actions' }).getByRole('button', { name: 'void attempt' }).waitFor();
    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body).toMatchObject({ status: 'voided' });
    expect(await world.balance(player)).toBe('100.00');
    expect(objections).toEqual([]);
  });

  test('the second operator who voids an attempt sees the first operator’s void', async () => {
    const { attemptId, player } = await newOpenAttempt(world);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/attempts/${attemptId}`, 'Attempt');
    await pressEnter(page.getByRole('button', { name: 'Void the attempt' }));
    const dialog = dialogOf(page);
    await enterText(dialog.getByLabel('Reason'), 'The game crashed.');
    const first = { body: { reason: 'The first operator was quicker.' } };
    expectStatus(200, await world.operator.send('POST', `/attempts/${attemptId}/void`, first));
    await pressEnter(dialog.getByRole('button', { name: 'Void', exact: true }));
    await dialog.getByText('Status: open → voided').waitFor();
    await dialog.getByText('“Void” is not possible any more.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('The first operator was quicker.').first().waitFor();
    expect(await world.balance(player)).toBe('100.00');
    expect(objections).toEqual([]);
  });

  test('an operator compensates the player of an ended attempt with a deposit', async () => {
    const { attemptId, player } = await newOpenAttempt(world);
    expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 1 }));
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/attempts/${attemptId}`, 'Attempt');
    await page.getByText('It is settled: its outcome was recorded and signed, and stands.').waitFor();
    const dialog = dialogOf(page);
    for (const [amount, balance] of [
      [undefined, '$100.00'],
      ['2.50', '$102.50'],
    ] as const) {
      await pressEnter(page.getByRole('button', { name: 'Make the attempt good' }));
      if (amount !== undefined) await enterText(dialog.getByLabel('Amount'), amount);
      expect(await accessibilityIssues(page)).toEqual([]);
      await pressEnter(dialog.getByRole('button', { name: 'Deposit' }));
      await dialog.waitFor({ state: 'detached' });
      await page.getByText(`Deposited. The balance is now ${balance}.`).waitFor();
      await page.getByText(`Made good with $${amount ?? '1.00'}`).waitFor();
    }
    expect(await world.balance(player)).toBe('102.50');
    const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
    expect(data.slice(0, 2)).toMatchObject([
      { kind: 'deposit', amount: '2.50', reference: `goodwill 2 for attempt ${attemptId}`, attempt_id: attemptId },
      { kind: 'deposit', amount: '1.00', reference: `goodwill 1 for attempt ${attemptId}`, attempt_id: attemptId },
    ]);
    expect(objections).toEqual([]);
  });
});

/** Searches by the field of the header. */
async function search(page: Page, text: string): Promise<void> {
  const field = page.getByRole('searchbox', { name: 'Search' });
  await enterText(field, text);
  await page.keyboard.press('Enter');
}

/**
 * Waits until the search has led to the page. If a service missed the deadline of the search, the
 * page names it and offers a button to search again, which this presses.
 */
async function untilLed(page: Page, path: string): Promise<void> {
  const again = page.getByRole('button', { name: 'Search again' });
  const isLed = () => new URL(page.url()).pathname === path;
  while (!isLed()) {
    await expect.poll(async () => isLed() || (await again.isVisible()), { timeout: 30_000 }).toBe(true);
    if (!isLed()) await pressEnter(again);
  }
}

async function untilListed(page: Page, attemptId: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Attempts', exact: true }).waitFor();
  await page.getByRole('table').locator(`a[href$="${attemptId}"]`).waitFor();
}
