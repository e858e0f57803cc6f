/** A program's developer, its insiders and its money, on the operator's pages. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS, signInByPassword } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { dialogOf } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

const COUNT_MS = 30_000;

describe.skipIf(!(await hasChromium()))('an operator looks after a program', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('an operator assigns a program to a developer by e-mail', async () => {
    const [old, next] = [await world.newDeveloper(), await world.newDeveloper()];
    const { id } = old.program;
    await using previous = await observePage(browser, origin);
    await signInByPassword(previous.page, old);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${id}`, /./);
    await page.getByText(old.email).waitFor();

    await pressEnter(page.getByRole('button', { name: 'Change the developer' }));
    await dialogOf(page).getByText('The API keys and the secrets of its integrations stay valid').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await enterText(dialogOf(page).getByLabel('E-mail of the developer'), 'nobody@example.com');
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Change' }));
    await dialogOf(page).getByText('No developer has this e-mail.').waitFor();
    await enterText(dialogOf(page).getByLabel('E-mail of the developer'), next.email);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Change' }));
    await page.getByText(next.email).waitFor();

    // The request uses the session that was open before.
    const answer = await previous.page.request.get(`${origin}/api/portal/programs/${id}`);
    expect(answer.status()).toBe(404);
    await using theirs = await observePage(browser, origin);
    await signInByPassword(theirs.page, next);
    await theirs.page.goto(`/portal/p/${id}/test/attempts`);
    await theirs.page.getByRole('heading', { level: 1, name: 'Attempts' }).waitFor();
    // The previous key still works.
    expectStatus(200, await old.program.test.listChallenges('anyone'));

    const { data } = expectStatus(
      200,
      await world.operator.send<{ data: object[] }>('GET', `/actions?limit=1&subject=program:${id}`),
    ).body;
    expect(data).toMatchObject([{ before: { developer_id: old.id }, after: { developer_id: next.id } }]);

    await pressEnter(page.getByRole('button', { name: 'Remove the developer' }));
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Remove' }));
    await page.getByText('No developer sees the program.').waitFor();
    expect((await next.portal.send('GET', `/programs/${id}`)).status).toBe(404);
    expect(objections).toEqual([]);
  });

  test('an insider cannot enter a live round until removed from the list', async () => {
    const program = await world.newProgram();
    const player = await world.newPlayer({ environment: 'live', partner: program.live });
    const round = await world.newRound({ environment: 'live' }, program);
    const enter = async () =>
      (await program.live.createAttempt({ tournament_round_id: round.id, player_ref: player.ref })).status;
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${program.id}`, /./);
    await pressEnter(page.getByRole('button', { name: 'Add an insider' }));
    await enterText(dialogOf(page).getByLabel('Id of the account'), player.accountId);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Add' }));
    await page.getByRole('table', { name: 'Insiders' }).getByText(player.email).waitFor();
    expect(await enter()).toBe(403);

    await pressEnter(page.getByRole('button', { name: `Remove ${player.email}` }));
    await dialogOf(page).getByText('at once').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Remove' }));
    await page.getByText('No insiders').waitFor();
    expect(await enter()).toBe(201);
    expect(objections).toEqual([]);
  });

  test('the page of money shows the fees and payouts of a day, a week and a month', async () => {
    const program = await world.newProgram();
    const { live } = program;
    const challenge = await world.newChallenge({ environment: 'live' }, program);
    const play = async (score: number | null, account: object = {}) => {
      const player = await world.newPlayer({ environment: 'live', partner: live });
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: false, ...account }));
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const { id } = expectStatus(201, await live.createAttempt(entry)).body;
      if (score === null) expectStatus(200, await world.operator.voidAttempt(id, 'a bug'));
      else expectStatus(200, await live.reportOutcome(id, { score }));
    };
    // Four fees of 1.00: a loss, a refund, a win of 5.00, and a win of 5.00 that is held.
    await play(1);
    await play(null);
    await play(100);
    await play(100, { under_investigation: true });

    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    const shown = async () => {
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      const row = page.getByRole('table', { name: 'Sums' }).getByRole('row', { name: /^live/ });
      return row.getByRole('cell').allTextContents();
    };
    const EXPECTED = ['live', '$4.00', '$1.00', '$5.00', '−$2.00', '$5.00', '$0.00', '$5.00', '−$2.00'];
    for (const period of ['day', 'week', 'month']) {
      await expect
        .poll(
          async () => {
            await openOperatorPage(page, `/money?program_id=${program.id}&period=${period}`, 'Money');
            return shown();
          },
          { timeout: COUNT_MS },
        )
        .toEqual(EXPECTED);
    }
    await page.getByRole('table', { name: 'Programs' }).getByRole('link').waitFor();
    await page.getByRole('figure', { name: 'Days in live' }).waitFor();
    await page.getByLabel('Period').selectOption('day');
    await page.getByRole('link', { name: 'Earlier' }).click();
    await page.getByText('No program has money in this period').waitFor();
    await pressEnter(page.getByRole('link', { name: 'Later' }));
    await page.getByRole('table', { name: 'Programs' }).getByRole('link').click();
    await page.getByRole('heading', { level: 2, name: 'Money of 7 days' }).waitFor();
    expect(await shown()).toEqual(EXPECTED);
    await world.expectAuditOk();
    expect(objections).toEqual([]);
  });
});
