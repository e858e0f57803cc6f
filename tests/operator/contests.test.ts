/** What an operator does with contests; each test reads the effect through `/v1`. */
import type { Challenge, FullLeaderboard } from '@laurel/sdk';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { newPlayedChallenge, newPlayedRound } from '../portal/contest-items.ts';
import { enterText, pressEnter, tabTo } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectStatus, inMinutes, type SharedWorld } from '../world.ts';
import { dialogOf } from './dialogs.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator runs contests', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('an operator creates, suspends, reinstates and closes a challenge by keyboard', async () => {
    const player = await world.newPlayer();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${world.program.id}`, /./);
    await pressEnter(page.getByRole('link', { name: 'Challenges', exact: true }));
    await pressEnter(page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Test' }));
    await page.getByText('Sandbox players, no real money').waitFor();
    await pressEnter(page.getByRole('link', { name: 'Create a challenge' }));
    await page.getByRole('heading', { level: 1, name: 'Create a challenge' }).waitFor();
    await enterText(page.getByLabel('Name', { exact: true }), 'Keyboard run');
    await enterText(page.getByLabel('Metric', { exact: true }), 'Distance');
    await enterText(page.getByLabel('Unit of the metric'), 'm');
    await enterText(page.getByLabel('Fee, in US dollars'), '1.00');
    await enterText(page.getByLabel('Prize, in US dollars'), '5.00');
    await enterText(page.getByLabel('Target pass rate'), '0.2');
    await tabTo(page.getByLabel('Begins'));
    await page.keyboard.press('ArrowDown');
    await page.getByText('It is live at once: sandbox players pay the fee').waitFor();
    await enterText(page.getByLabel('Bar', { exact: true }), '100');
    await pressEnter(page.getByRole('button', { name: 'Create the challenge' }));
    await page.getByRole('heading', { level: 1, name: 'Keyboard run' }).waitFor();
    const challengeId = idOf(page);
    const { data } = expectStatus(200, await world.partner.listChallenges(player.ref)).body;
    expect(data.find(({ id }) => id === challengeId)).toMatchObject({
      name: 'Keyboard run',
      status: 'live',
      fee: '1.00',
      prize: '5.00',
      threshold: 100,
      metric_name: 'Distance',
    });

    const create = () => world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref });
    await decide(page, 'Suspend', 'the partner gets challenge_not_available', { Note: 'A look at the scores.' });
    await statusOf(page, 'suspended').waitFor();
    await page.getByText('Note: “A look at the scores.”').waitFor();
    expect(await create()).toMatchObject({ status: 409, body: { error: { code: 'challenge_not_available' } } });

    await decide(page, 'Reinstate', 'It is live again at once');
    await statusOf(page, 'live').waitFor();
    const { id: openAttempt } = expectStatus(201, await create()).body;

    await decide(page, 'Close', 'Attempts that are open are still played and can win. This is final');
    await statusOf(page, 'closed').waitFor();
    expect(expectStatus(200, await world.partner.reportOutcome(openAttempt, { score: 120 })).body.award).toMatchObject({
      amount: '5.00',
    });
    expect(await create()).toMatchObject({ status: 409, body: { error: { code: 'challenge_not_available' } } });
    expect(await page.getByRole('button', { name: 'Reinstate' }).count()).toBe(0);
    expect(objections).toEqual([]);
  });

  test('a refusal of the server is shown at its field, which gets the focus', async () => {
    const program = await world.newProgram();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/programs/${program.id}/challenges/new?environment=test`, 'Create a challenge');
    const fields = { Name: 'Refused run', Metric: 'Time', 'Unit of the metric': 's', 'Target pass rate': 'a fifth' };
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
    const fee = page.getByLabel('Fee, in US dollars');
    await fee.fill('1');
    await page.getByLabel('Prize, in US dollars').fill('5.00');
    await page.getByLabel('Lowest plausible score').fill('10');
    await page.getByLabel('Highest plausible score').fill('5');
    await pressEnter(page.getByRole('button', { name: 'Create the challenge' }));
    await expect.poll(() => describedAs(fee)).toMatch(/decimal string with two places/);
    const share = page.getByLabel('Target pass rate');
    expect(await describedAs(share)).toMatch(/number/);
    expect(await fee.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await accessibilityIssues(page)).toEqual([]);

    // The challenge service decides the rules that relate several fields.
    await fee.fill('1.00');
    await share.fill('0.2');
    await pressEnter(page.getByRole('button', { name: 'Create the challenge' }));
    const lowest = page.getByLabel('Lowest plausible score');
    await expect.poll(() => describedAs(lowest)).toBe('score_min must not be above score_max.');
    await lowest.fill('1');
    await pressEnter(page.getByRole('button', { name: 'Create the challenge' }));
    await page.getByRole('heading', { level: 1, name: 'Refused run' }).waitFor();
    const { data } = expectStatus(200, await program.test.listChallenges('player', 'all')).body;
    expect(data.map(({ id, name, status }) => [id, name, status])).toEqual([
      [idOf(page), 'Refused run', 'calibrating'],
    ]);
    expect(besidesRefusals(objections)).toEqual([]);
  });

  test('the page of a challenge draws the scores that determine its bar', async () => {
    const calibrating = await world.newChallenge({ name: 'Unplaced bar', status: 'calibrating', threshold: null });
    await newScores(calibrating.id, [40, 52, 58, 61, 66, 71, 74, 80, 86, 93]);
    const played = await newMonitoredChallenge();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/challenges/${calibrating.id}`, 'Unplaced bar');
    const scores = page.getByRole('figure', { name: 'Scores for the bar' });
    expect(await scores.getByRole('img').getAttribute('aria-label')).toMatch(/^10 values .+ Bar so far: 86 points\.$/);
    // Without the style of the charts every mark would be black.
    const fill = await page.evaluate("getComputedStyle(document.querySelector('.chart .mark')).fill");
    expect(fill).not.toBe('rgb(0, 0, 0)');

    await openOperatorPage(page, `/challenges/${played.id}`, 'Harbour run');
    await page.getByRole('figure', { name: 'Evidence against the bar' }).waitFor();
    expect(await page.getByRole('figure', { name: 'Scores', exact: true }).count()).toBe(1);
    await page.getByText('Claimed pass rate').waitFor();
    expect(objections).toEqual([]);
  });

  test('a challenge that the drift monitor suspended can be reinstated only with a note', async () => {
    const { id } = await newPlayedChallenge(world, world, [120]);
    const player = await world.newPlayer();
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await expect.poll(async () => (await world.operator.getChallenge(id)).body.status).toBe('suspended');
    await openOperatorPage(page, `/challenges/${id}`, 'Harbour run');
    await page.getByText('The drift monitor suspended it').waitFor();
    const history = page.getByRole('table', { name: 'Status history' }).locator('tbody tr');
    await expect.poll(() => history.first().textContent()).toMatch(/\d+ of \d+ cleared the bar\. Too easy .+ : 1/);

    await pressEnter(page.getByRole('button', { name: 'Reinstate' }));
    await dialogOf(page).getByText('The drift monitor starts again from nothing').waitFor();
    const confirm = dialogOf(page).getByRole('button', { name: 'Reinstate' });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await enterText(dialogOf(page).getByLabel('Note'), 'The scores were real: the bar is easier in 4.1.');
    await pressEnter(confirm);
    await dialogOf(page).waitFor({ state: 'detached' });
    await statusOf(page, 'live').waitFor();
    expectStatus(201, await world.partner.createAttempt({ challenge_id: id, player_ref: player.ref }));
    expect(objections).toEqual([]);
  });

  test('an operator creates a tournament and cancels a round by keyboard', async () => {
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    const path = `/programs/${world.program.id}/tournaments`;
    await openOperatorPage(page, `${path}?environment=test`, 'Tournaments');
    await pressEnter(page.getByRole('link', { name: 'Create a tournament' }));
    await page.getByRole('heading', { level: 1, name: 'Create a tournament' }).waitFor();
    await enterText(page.getByLabel('Name', { exact: true }), 'Keyboard cup');
    await enterText(page.getByLabel('Metric', { exact: true }), 'Points');
    await enterText(page.getByLabel('Unit of the metric'), 'points');
    await enterText(page.getByLabel('Entry fee, in US dollars'), '1.00');
    await enterText(page.getByLabel('Paid attempts of a player in a round'), '3');
    await enterText(page.getByLabel('Payout of each, in US dollars, group 1'), '5.00');
    await pressEnter(page.getByRole('button', { name: 'Add a group of ranks' }));
    await enterText(page.getByLabel('Ranks of group 2'), '2');
    const second = page.getByLabel('Payout of each, in US dollars, group 2');
    await enterText(second, '7.50');
    await enterText(page.getByLabel('Entrants that a round needs'), '1');
    await pressEnter(page.getByRole('button', { name: 'Create the tournament' }));
    const purse = page.getByRole('group', { name: 'Purse' });
    await purse.getByText('No amount of purse_table may be above the one of the rank before it.').waitFor();
    await enterText(second, '2.50');
    await page.getByText('In all $10.00.').waitFor();
    await pressEnter(page.getByRole('button', { name: 'Create the tournament' }));
    await page.getByRole('heading', { level: 1, name: 'Keyboard cup' }).waitFor();
    const tournamentId = idOf(page);

    await pressEnter(page.getByRole('button', { name: 'Open a round' }));
    await dialogOf(page).getByText('the house pays up to $10.00 by rank').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await dialogOf(page)
      .getByLabel('Closes')
      .fill(await localMinute(page, inMinutes(60)));
    await pressEnter(dialogOf(page).getByRole('button', { name: 'Open' }));
    await page.getByRole('heading', { level: 1, name: / UTC$/ }).waitFor();
    const roundId = idOf(page);
    expect(await currentRoundOf(tournamentId)).toMatchObject({
      id: roundId,
      status: 'open',
      purse_table: [
        { rank: 1, amount: '5.00' },
        { rank: 2, amount: '2.50' },
        { rank: 3, amount: '2.50' },
      ],
    });

    const player = await world.newPlayer();
    await world.playRound(roundId, player, 70);
    expect(await world.balance(player)).toBe('99.00');
    await page.reload();
    await decide(page, 'Cancel the round', '1 entrant gets every fee back, scored or not', {
      Reason: 'The game counted twice.',
    });
    await statusOf(page, 'cancelled').waitFor();
    await page.getByText(/Cancelled by operator .+: “The game counted twice\.”/).waitFor();
    expect(await currentRoundOf(tournamentId)).toMatchObject({ id: roundId, status: 'cancelled' });
    await expect.poll(() => world.balance(player)).toBe('100.00');
    const board = expectStatus(200, await world.partner.getLeaderboard(roundId, player.ref)).body as FullLeaderboard;
    expect(board.data).toMatchObject([{ player_ref: player.ref, payout_status: 'refunded' }]);
    const refused = await world.partner.createAttempt({ tournament_round_id: roundId, player_ref: player.ref });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'entries_closed' } } });
    expect(besidesRefusals(objections)).toEqual([]);
  });

  test('the page of a tournament says when another operator has paused the tournament meanwhile', async () => {
    const tournament = await world.newTournament({ name: 'Paused cup' });
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/tournaments/${tournament.id}`, 'Paused cup');
    expectStatus(200, await world.operator.updateTournament(tournament.id, { status: 'paused' }));
    await pressEnter(page.getByRole('button', { name: 'Pause' }));
    await dialogOf(page)
      .getByText(/^Status: active → paused, by operator (now|\d+ s ago)$/)
      .waitFor();
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    await statusOf(page, 'paused').waitFor();
    await decide(page, 'Activate', 'An operator can open its rounds again');
    await statusOf(page, 'active').waitFor();
    const opened = await world.openRound(tournament.id);
    await page.reload();
    await decide(page, 'Close', 'The round that is open goes on to its end');
    await statusOf(page, 'closed').waitFor();
    const player = await world.newPlayer();
    await world.playRound(opened.id, player, 70);
    expect(await world.operator.openRound(tournament.id, { closes_at: inMinutes(60) })).toMatchObject({ status: 409 });
    expect(objections).toEqual([]);
  });

  test('a settled round shows the payout of each rank as /v1 does', async () => {
    const { round, players } = await newPlayedRound(world, world);
    expectStatus(200, await world.partner.closeRound(round.id));
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, `/tournaments/${round.tournament_id}`, 'Harbour cup');
    await pressEnter(page.getByRole('table', { name: 'Rounds' }).getByRole('link', { name: / UTC$/ }));
    const rows = page.getByRole('table', { name: 'Standings' }).locator('tbody tr');
    await rows.first().waitFor();
    const { data } = expectStatus(200, await world.partner.getLeaderboard(round.id, players[0]?.ref))
      .body as FullLeaderboard;
    expect(data.map(({ payout_amount }) => payout_amount)).toEqual(['5.00', '3.00', '2.00']);
    for (const [index, standing] of data.entries()) {
      const row = rows.nth(index);
      const cells = await row.locator('td').allTextContents();
      expect([cells[0], cells[2], cells[6], cells[7]]).toEqual([
        String(standing.final_rank),
        String(standing.best_score),
        `$${standing.payout_amount}`,
        'paid',
      ]);
      expect(cells[1]).toContain(standing.player_ref);
      const accountId = players.find(({ ref }) => ref === standing.player_ref)?.accountId ?? '';
      expect(await row.locator(`a[href="/operator/accounts/${accountId}"]`).count()).toBe(1);
      const attempt = await row.locator('a[href^="/operator/attempts/"]').getAttribute('href');
      expect(
        expectStatus(200, await world.partner.getAttempt(attempt?.split('/').at(-1) ?? '')).body.outcome,
      ).toMatchObject({ score: standing.best_score });
      const award = await row.locator('a[href^="/operator/payouts/"]').getAttribute('href');
      const payout = expectStatus(200, await world.operator.getPayout(award?.split('/').at(-1) ?? '')).body;
      expect(payout).toMatchObject({ account_id: accountId, round_id: round.id, amount: standing.payout_amount });
    }
    expect(await page.getByRole('button', { name: 'Cancel the round' }).count()).toBe(0);
    expect(objections).toEqual([]);
  });
});

function statusOf(page: Page, status: string): Locator {
  return page.locator('.page-header').getByText(status, { exact: true });
}

/** The id at the end of the page's address. */
function idOf(page: Page): string {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** The objections besides refusals: a browser also writes each 400 to its console. */
function besidesRefusals(objections: readonly string[]): readonly string[] {
  return objections.filter((objection) => !/^(400|console): /.test(objection));
}

/** Presses the button of an action, reads its consequence, fills its fields, and confirms it. */
async function decide(
  page: Page,
  action: string,
  consequence: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  await pressEnter(page.getByRole('button', { name: action, exact: true }));
  const dialog = dialogOf(page);
  await dialog.getByText(consequence).waitFor();
  expect(await accessibilityIssues(page)).toEqual([]);
  for (const [label, text] of Object.entries(fields)) await enterText(dialog.getByLabel(label), text);
  await pressEnter(dialog.getByRole('button', { name: action, exact: true }));
  await dialog.waitFor({ state: 'detached' });
}

/** What a screen reader says of a field besides its label. */
async function describedAs(field: Locator): Promise<string | null> {
  const id = await field.getAttribute('aria-describedby');
  return id === null ? null : field.page().locator(`[id="${id}"]`).textContent();
}

/** The text of a field of date and time, in the time zone of the browser. */
function localMinute(page: Page, at: string): Promise<string> {
  return page.evaluate(
    `(() => { const at = new Date('${at}'); return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16); })()`,
  );
}

/** A challenge whose drift monitor has kept two readings, however it groups the attempts. */
async function newMonitoredChallenge(): Promise<Challenge> {
  const challenge = await newPlayedChallenge(world, world);
  const counted = async () => expectStatus(200, await world.operator.getDrift(challenge.id)).body;
  await expect.poll(async () => (await counted()).attempts).toBe(60);
  await newScores(
    challenge.id,
    Array.from({ length: 10 }, () => 40),
  );
  await expect.poll(async () => (await counted()).readings.length).toBeGreaterThan(1);
  return challenge;
}

/** Plays attempts of one player, one after the other, each with its score. */
async function newScores(challengeId: string, scores: readonly number[]): Promise<void> {
  const player = await world.newPlayer();
  for (const score of scores) {
    const entry = { challenge_id: challengeId, player_ref: player.ref };
    const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
    expectStatus(200, await world.partner.reportOutcome(id, { score }));
  }
}

/** The latest round of a tournament, as the partner reads it. */
async function currentRoundOf(tournamentId: string): Promise<object | null | undefined> {
  const { data } = expectStatus(200, await world.partner.listTournaments('all')).body;
  return data.find(({ id }) => id === tournamentId)?.current_round;
}
