/** What an operator decides about a program; each test reads the effect through `/v1`. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, openByKeyboard, pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues, storedTexts } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { dialogOf, takeSecret } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator decides about programs', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('an operator creates, approves, suspends and reinstates a program by keyboard', async () => {
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openByKeyboard(page, 'Programs');
    await pressEnter(page.getByRole('button', { name: 'Create a program' }));
    await enterText(dialogOf(page).getByLabel('Name'), 'Keyboard arcade');
    expect(await accessibilityIssues(page)).toEqual([]);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Create' }));
    const testKey = await takeSecret(page, 'The test key');
    await page.getByRole('heading', { level: 1, name: 'Keyboard arcade' }).waitFor();
    expect(await statusWith(testKey)).toBe(200);

    await decide(page, 'Approve', 'real players and pay them real money');
    const liveKey = await takeSecret(page, 'The live key');
    await statusOf(page, 'approved').waitFor();
    expect(await statusWith(liveKey)).toBe(200);
    expect(await page.content()).not.toContain(liveKey);
    expect(await storedTexts(page)).toEqual([]);

    await decide(page, 'Suspend', 'gets 401 at once');
    await statusOf(page, 'suspended').waitFor();
    expect([await statusWith(testKey), await statusWith(liveKey)]).toEqual([401, 401]);

    await decide(page, 'Reinstate', 'work again at once');
    await statusOf(page, 'approved').waitFor();
    expect([await statusWith(testKey), await statusWith(liveKey)]).toEqual([200, 200]);

    await decide(page, 'New live key', 'The old key stops at once', 'Replace');
    const newKey = await takeSecret(page, 'The live key');
    expect([await statusWith(liveKey), await statusWith(newKey)]).toEqual([401, 200]);
    expect(objections).toEqual([]);
  });

  test('an approval whose answer was lost can be repeated from its dialog', async () => {
    const { id } = expectStatus(201, await world.operator.createProgram('Lost answer')).body;
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${id}`, 'Lost answer');
    const lost: string[] = [];
    await page.route('**/approve', async (route) => {
      lost.push((await (await route.fetch()).json()).live_key);
      await route.abort();
    });
    await decide(page, 'Approve', 'If the answer is lost, approve again');
    await dialogOf(page).getByText('Laurel did not answer.').waitFor();
    await dialogOf(page)
      .getByText(/^Status: draft → approved, by operator/)
      .waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.unroute('**/approve');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Approve' }));
    const liveKey = await takeSecret(page, 'The live key');
    expect([await statusWith(lost[0] ?? ''), await statusWith(liveKey)]).toEqual([401, 200]);
    expect(await actionsOn(id, 'approve_program')).toBe(2);
  });

  test('a program that another operator approved meanwhile is not approved again', async () => {
    const { id } = expectStatus(201, await world.operator.createProgram('Approved twice')).body;
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${id}`, 'Approved twice');
    expectStatus(200, await world.operator.approveProgram(id));
    await pressEnter(page.getByRole('button', { name: 'Approve' }));
    await dialogOf(page)
      .getByText(/^Status: draft → approved, by operator (now|\d+ s ago)$/)
      .waitFor();
    await dialogOf(page).getByText('“Approve” is not possible any more.').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    const approve = dialogOf(page).getByRole('button', { name: 'Approve' });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await pressEnter(approve);
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    await statusOf(page, 'approved').waitFor();
    expect(await actionsOn(id, 'approve_program')).toBe(1);
  });

  test('a change by another operator is shown in the open dialog before its button acts', async () => {
    const { id } = await world.newProgram();
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await page.goto(`/operator/programs/${id}`);
    await pressEnter(page.getByRole('button', { name: 'Suspend' }));
    await dialogOf(page).getByText('gets 401 at once').waitFor();
    const { live_key: newKey } = expectStatus(200, await world.operator.replaceLiveKey(id)).body;
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Suspend' }));
    await dialogOf(page)
      .getByText(new RegExp(`^Live key: .+ → .+${newKey.slice(-4)}, by operator `))
      .waitFor();
    expect(await actionsOn(id, 'change_program')).toBe(0);
    expect(await statusWith(newKey)).toBe(200);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Suspend' }));
    await dialogOf(page).waitFor({ state: 'detached' });
    await statusOf(page, 'suspended').waitFor();
    expect(await statusWith(newKey)).toBe(401);
  });

  test('an operator’s change of a limit takes effect', async () => {
    const { id } = await world.newProgram();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await page.goto(`/operator/programs/${id}`);
    await pressEnter(page.getByRole('button', { name: 'Change the limits of live' }));
    await enterText(dialogOf(page).getByLabel('Payouts to all accounts, in US dollars'), '123.45');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Change' }));
    await page.getByRole('cell', { name: '$123.45' }).waitFor();
    expect(await liveLimitsOf(id)).toMatchObject({ payout_limit: '123.45', fee_limit: '200.00' });

    await pressEnter(page.getByRole('button', { name: 'Change the limits of live' }));
    await enterText(dialogOf(page).getByLabel('Payouts to all accounts, in US dollars'), '');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Change' }));
    await page.getByRole('cell', { name: '$5,000.00' }).waitFor();
    expect(await liveLimitsOf(id)).toMatchObject({ payout_limit: '5000.00', fee_limit: '200.00' });
    expect(objections).toEqual([]);
  });

  test('an account that is made an insider cannot enter a live tournament of the program', async () => {
    const program = await world.newProgram();
    const player = await world.newPlayer({ environment: 'live', partner: program.live });
    const round = await world.newRound({ environment: 'live' }, program);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await page.goto(`/operator/programs/${program.id}`);
    await pressEnter(page.getByRole('button', { name: 'Add an insider' }));
    await enterText(dialogOf(page).getByLabel('Id of the account'), player.accountId);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Add' }));
    await page.getByRole('status').getByText(player.accountId).waitFor();
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    expect(await program.live.createAttempt(entry)).toMatchObject({
      status: 403,
      body: { error: { code: 'insider_entry' } },
    });
    expect(objections).toEqual([]);
  });

  test('a sign-in link opens the portal as the developer, once', async () => {
    const developer = await world.newDeveloper();
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await page.goto(`/operator/programs/${developer.program.id}`);
    await pressEnter(page.getByRole('button', { name: 'Make a sign-in link' }));
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Make the link' }));
    const link = await takeSecret(page, 'The sign-in link');
    await using other = await observePage(browser, origin);
    await other.page.goto(link);
    await other.page.waitForURL(`${origin}/portal/p/${developer.program.id}/test/**`);
  });
});

function statusOf(page: Page, status: string): Locator {
  return page.locator('.page-header').getByText(status, { exact: true });
}

/** Presses the button of an action, reads its consequence, and confirms it. */
async function decide(page: Page, action: string, consequence: string, confirm = action): Promise<void> {
  await pressEnter(page.getByRole('button', { name: action, exact: true }));
  await dialogOf(page).getByText(consequence).waitFor();
  expect(await accessibilityIssues(page)).toEqual([]);
  await pressEnter(dialogOf(page).getByRole('button', { name: confirm, exact: true }));
}

async function statusWith(apiKey: string): Promise<number> {
  return (await world.http.send('GET', '/v1/challenges?player_ref=player', { headers: { 'X-API-Key': apiKey } }))
    .status;
}

async function actionsOn(programId: string, action: string): Promise<number> {
  const path = `/actions?subject=program:${programId}&action=${action}`;
  return expectStatus(200, await world.operator.send<{ data: unknown[] }>('GET', path)).body.data.length;
}

async function liveLimitsOf(programId: string): Promise<object | undefined> {
  const answer = await world.operator.send<{ data: { environment: string }[] }>('GET', `/programs/${programId}/limits`);
  return expectStatus(200, answer).body.data.find(({ environment }) => environment === 'live');
}
