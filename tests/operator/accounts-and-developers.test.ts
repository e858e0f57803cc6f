/** The changes that an operator makes to an account; each test reads the effect through `/v1`. */
import { randomUUID } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, openByKeyboard, pressEnter, tabTo } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS, placesOf } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectError, expectStatus, type Player, type SharedWorld } from '../world.ts';
import { confirmDecision, dialogOf, openDecision, takeSecret } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const HOUR_MS = 3_600_000;

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator and the accounts', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  /** The page of the account, read by an operator who has just signed in. */
  async function openAccount(page: Page, player: Player): Promise<void> {
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/accounts/${player.accountId}`, player.email);
  }

  test('an operator finds an account by its e-mail, player or flag, by keyboard', async () => {
    const player = await world.newPlayer();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Accounts');
    await search(page, 'E-mail', player.email.toUpperCase());
    const found = rowsOf(page, 'Accounts').filter({ hasText: player.email });
    await found.waitFor();
    await expect.poll(() => rowsOf(page, 'Accounts').count()).toBe(1);
    await openOperatorPage(page, `/accounts?player_ref=${player.ref}`, 'Accounts');
    await page.getByText('Missing: program, environment.').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await search(page, 'Program of the player', world.program.id);
    await tabTo(page.getByLabel('Environment of the player'));
    await page.keyboard.press('t');
    await found.waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      player_ref: player.ref,
      program_id: world.program.id,
      environment: 'test',
    });
    await pressEnter(found.getByRole('link', { name: player.email }));
    await page.getByRole('heading', { level: 1, name: player.email }).waitFor();
    expectStatus(200, await world.operator.updateAccount(player.accountId, { under_investigation: true }));
    await openOperatorPage(page, `/accounts?flag=under_investigation&sandbox_of=${world.program.id}`, 'Accounts');
    await found.getByText('under investigation').waitFor();
    await search(page, 'E-mail', 'nobody@example.com');
    await page.getByText('No account matches these filters').waitFor();
    expect(objections).toEqual([]);
  });

  test('a severed program must link the account again after the severance is lifted', async () => {
    const player = await world.newPlayer();
    const challenge = await world.newChallenge();
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await openAccount(page, player);
    const programs = page.getByRole('table', { name: 'Programs that know it' });
    await programs.getByText(player.ref).waitFor();

    await openDecision(page, `Sever ${world.program.id}`, 'get 402 insufficient_funds');
    await confirmDecision(page, 'Sever');
    await programs.getByText('severed', { exact: true }).waitFor();
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(entry));
    expectError(404, 'not_found', await world.partner.linkPlayer(player.ref, player.email));

    await openDecision(page, `Lift ${world.program.id}`, 'has to link the player again');
    await confirmDecision(page, 'Lift');
    await page.getByText('No program has linked the account').waitFor();
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(entry));
    expectStatus(201, await world.partner.linkPlayer(player.ref, player.email));
    expectStatus(201, await world.partner.createAttempt(entry));
    const actions = rowsOf(page, 'Actions');
    await expect
      .poll(async () => (await actions.locator('td:first-child').allTextContents()).slice(0, 2))
      .toEqual(['lift severance', 'sever player links']);
    expect(objections).toEqual([]);
  });

  test('an excluded player is blocked until the exclusion ends', async () => {
    const player = await world.newPlayer();
    const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await openAccount(page, player);
    const dialog = await openDecision(page, 'Exclude', 'gets 403 blocked');
    const exclude = dialog.getByRole('button', { name: 'Exclude' });
    expect(await exclude.getAttribute('aria-disabled')).toBe('true');
    const until = new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS);
    await dialog.getByLabel('Until').fill(await localText(page, until));
    await dialog.getByText(until.toISOString().slice(0, 10)).waitFor();
    await confirmDecision(page, 'Exclude');
    await page.getByRole('cell', { name: /^excluded ends in/ }).waitFor();
    expect(expectStatus(200, await readAccount(player)).body.self_excluded_until).toBe(until.toISOString());
    expectError(403, 'blocked', await world.partner.createAttempt(entry));

    await openDecision(page, 'End the exclusion', 'can pay for attempts again at once');
    await confirmDecision(page, 'End the exclusion');
    await page.getByRole('button', { name: 'Exclude', exact: true }).waitFor();
    expectStatus(201, await world.partner.createAttempt(entry));
    expect(objections).toEqual([]);
  });

  test('the prize of a flagged player is held', async () => {
    const player = await world.newPlayer();
    const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
    const attempt = expectStatus(201, await world.partner.createAttempt(entry)).body;
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await openAccount(page, player);
    await openDecision(page, 'Set the enforcement flag', 'is held until an operator releases or denies it');
    await confirmDecision(page, 'Set the flag');
    await page.locator('.page-header').getByText('enforcement flag').waitFor();
    const { award } = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 100 })).body;
    expect(award).toMatchObject({ amount: '5.00', payout_status: 'held' });

    expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
    const dialog = await openDecision(page, 'Block', 'gets 403 blocked from now on');
    await dialog.getByText(/^Block: no → yes, by operator (now|\d+ s ago)$/).waitFor();
    await dialog.getByText('“Block” is not possible any more.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Block' }).getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const another = { ...entry, challenge_id: (await world.newChallenge()).id };
    expectError(403, 'blocked', await world.partner.createAttempt(another));
    await openDecision(page, 'Unblock', 'can pay for attempts again');
    await confirmDecision(page, 'Unblock');
    await page.getByRole('button', { name: 'Block', exact: true }).waitFor();
    expectStatus(201, await world.partner.createAttempt(another));
    expect(objections).toEqual([]);
  });

  test('an operator can change the verification level, jurisdiction and fee limit of an account', async () => {
    const player = await world.newPlayer();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await openAccount(page, player);
    const levels = await openDecision(page, 'Change the level', 'that need a higher level get 403 blocked');
    await tabTo(levels.getByLabel('Verification level'));
    await page.keyboard.press('3');
    await confirmDecision(page, 'Change');
    const places = await openDecision(page, 'Change the jurisdiction', 'Play money has no jurisdiction');
    await enterText(places.getByLabel('Jurisdiction'), 'gb');
    await confirmDecision(page, 'Change');
    const limits = await openDecision(page, 'Change the fee limit', 'The lower limit holds');
    await enterText(limits.getByLabel('Fees of one program in 24 hours, in US dollars'), '0.50');
    await confirmDecision(page, 'Change');
    await page.getByRole('cell', { name: '$0.50' }).waitFor();
    expect(expectStatus(200, await readAccount(player)).body).toMatchObject({
      verification_level: 3,
      jurisdiction: 'GB',
      fee_limit: '0.50',
    });
    const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
    expectError(403, 'blocked', await world.partner.createAttempt(entry));
    expect(objections).toEqual([]);
  });

  test('a deposit is posted once for each reference', async () => {
    const player = await world.newPlayer({ funds: '100.00' });
    const before = Array.from({ length: 50 }, (_, count) => `small deposit ${count}`);
    for (const reference of before) {
      expectStatus(
        201,
        await world.operator.deposit(player.accountId, { environment: 'test', amount: '0.01', reference }),
      );
    }
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await openAccount(page, player);
    await deposit(page, '25.00', 'ticket 9');
    await page.getByText('$25.00 is deposited for “ticket 9”. The balance is $125.50.').waitFor();
    expect(await world.balance(player)).toBe('125.50');
    await deposit(page, '25.00', 'ticket 9');
    await page.getByText('Nothing has moved: “ticket 9” brought $25.00 in before. The balance is $125.50.').waitFor();
    expect(await world.balance(player)).toBe('125.50');
    await fillDeposit(page, '26.00', 'ticket 9');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Deposit' }));
    await dialogOf(page).getByText('The reference was used for another amount.').waitFor();
    await page.keyboard.press('Escape');
    expect(await world.balance(player)).toBe('125.50');

    const lines = rowsOf(page, 'Statement');
    await expect.poll(() => lines.count()).toBe(50);
    await pressEnter(page.getByRole('button', { name: 'Load more' }));
    await expect.poll(() => lines.count()).toBe(52);
    const cells = (index: number) => lines.nth(index).locator('td').allTextContents();
    expect((await cells(0)).slice(1)).toEqual(['deposit', 'ticket 9', '$25.00', '$125.50']);
    expect((await cells(1)).slice(1)).toEqual(['deposit', 'small deposit 49', '$0.01', '$100.50']);
    expect((await cells(51)).slice(3)).toEqual(['$100.00', '$100.00']);
    await pressEnter(page.getByRole('link', { name: 'live', exact: true }));
    await page.getByText('A sandbox account has no real money.').waitFor();
    expect(await page.getByRole('button', { name: 'Deposit', exact: true }).count()).toBe(0);
    expect(await accessibilityIssues(page)).toEqual([]);
  });

  test('a program links by e-mail an account that an operator opened by keyboard', async () => {
    const email = `${randomUUID()}@example.com`;
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Accounts');
    const dialog = await openDecision(page, 'Create an account', 'holds real money only');
    await enterText(dialog.getByLabel('E-mail'), email);
    await dialog.getByLabel('Date of birth').fill('1990-12-31');
    await enterText(dialog.getByLabel('Jurisdiction'), 'us-ca');
    await confirmDecision(page, 'Create');
    await page.getByRole('heading', { level: 1, name: email }).waitFor();
    await page.locator('.page-header').getByText('live', { exact: true }).waitFor();
    expectStatus(201, await world.program.live.linkPlayer(`player-${randomUUID()}`, email));
    expectError(404, 'not_found', await world.program.test.linkPlayer(`player-${randomUUID()}`, email));
    await fillDeposit(page, '5.00', 'bank transfer 7');
    await page.getByRole('dialog', { name: 'Deposit real money?' }).waitFor();
    await confirmDecision(page, 'Deposit');
    await page.getByText('$5.00 is deposited for “bank transfer 7”. The balance is $5.00.').waitFor();
    await pressEnter(page.getByRole('link', { name: 'test', exact: true }));
    await page.getByText('A person has no play money.').waitFor();
    expect(objections).toEqual([]);
  });

  test('an operator creates a developer and a one-time sign-in link by keyboard', async () => {
    const email = `${randomUUID()}@example.com`;
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Developers');
    const dialog = await openDecision(page, 'Create a developer', 'can sign in to the portal at once');
    await enterText(dialog.getByLabel('E-mail'), email);
    const password = `password ${randomUUID()}`;
    await enterText(dialog.getByLabel('Password'), password);
    await confirmDecision(page, 'Create');
    await page.getByText('The developer has no program').waitFor();
    expect(new URL(page.url()).searchParams.get('email')).toBe(email);
    expect(await accessibilityIssues(page)).toEqual([]);

    await openDecision(page, `Make a sign-in link for ${email}`, 'becomes the developer');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Make the link' }));
    const link = await takeSecret(page, 'The sign-in link');
    expect(await placesOf(page, link)).toEqual([]);
    expect(await page.content()).not.toContain(password);
    await using other = await observePage(browser, origin);
    await other.page.goto(link);
    await other.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await (await other.page.request.get('/api/portal/me')).json()).toMatchObject({ email });
    await using again = await observePage(browser, origin);
    await again.page.goto(link);
    await again.page.getByText('This link has expired or was used before.').waitFor();
    expect(objections).toEqual([]);
  });

  test('the page of a developer links to each of the developer’s programs', async () => {
    const developer = await world.newDeveloper();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/developers?email=${developer.email}`, 'Developers');
    const programs = rowsOf(page, 'Programs of the developer');
    await programs.getByText(developer.program.id).waitFor();
    await pressEnter(programs.getByRole('link').first());
    await page.waitForURL(`${origin}/operator/programs/${developer.program.id}`);
    expect(objections).toEqual([]);
  });

  function readAccount({ accountId }: Player) {
    return world.operator.send<{ self_excluded_until: string | null }>('GET', `/accounts/${accountId}`);
  }
});

function rowsOf(page: Page, table: string): Locator {
  return page.getByRole('table', { name: table, exact: true }).locator('tbody tr');
}

/** Types into a filter, and applies it. */
async function search(page: Page, filter: string, text: string): Promise<void> {
  await enterText(page.getByRole('searchbox', { name: filter, exact: true }), text);
  await page.keyboard.press('Enter');
}

async function fillDeposit(page: Page, amount: string, reference: string): Promise<void> {
  const dialog = await openDecision(page, 'Deposit', 'has the amount at once');
  await enterText(dialog.getByLabel('Amount, in US dollars'), amount);
  await enterText(dialog.getByLabel('Reference'), reference);
}

async function deposit(page: Page, amount: string, reference: string): Promise<void> {
  await fillDeposit(page, amount, reference);
  await confirmDecision(page, 'Deposit');
}

/** The text of an instant for a field of date and time, in the time zone of the browser. */
function localText(page: Page, at: Date): Promise<string> {
  return page.evaluate(
    `(() => { const at = new Date(${at.getTime()}); return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16); })()`,
  );
}
