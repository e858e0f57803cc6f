/**
 * Databases are restored from their backups, alone and together: the differences, and their repair
 * (docs/operations/backup-and-restore.md).
 */
import type { Attempt, Outcome } from '@laurel/sdk';
import { type AuditBody, type Service, tally } from '@laurel/testing';
import { byService } from '@laurel/topology';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHECKS, CONTEST_SERVICES, type ContestService } from '../contest-service-checks.ts';
import { eventually, expectError, expectStatus } from '../world.ts';
import { bookDeposit, pushReport } from './load.ts';
import { gamesOf, type RepeatedStep, type Step, sendAgain } from './play.ts';
import { documentedSql } from './repairs.ts';
import { openSite, type Site } from './site.ts';

/**
 * A restore starts six servers and six services, which takes most of a minute on a loaded machine.
 */
const TEST_MS = 300_000;
const PAGE = 'docs/operations/backup-and-restore.md';
const CENTS = { fee: 100, prize: 500, deposit: 700 };
const FUNDS = 100_000;

let site: Site;

beforeAll(async () => {
  site = await openSite();
}, TEST_MS);
afterAll(() => site?.[Symbol.asyncDispose]());

type Check = AuditBody['checks'][number] & { readonly examples?: readonly string[] };

async function violations(): Promise<readonly Check[]> {
  const audit = await eventually(async () => {
    const answer = await site.world.operator.audit();
    return answer.status === 200 ? answer.body : undefined;
  }, 'the audit answers');
  return audit.checks.filter((check) => check.violations > 0);
}

/** Awaits exactly these violations, and prints them in the end. */
async function expectReported(expected: Readonly<Record<string, number>>): Promise<void> {
  let found = {};
  await eventually(async () => {
    found = Object.fromEntries((await violations()).map((check) => [check.id, check.violations]));
    return JSON.stringify(sorted(found)) === JSON.stringify(sorted(expected)) || undefined;
  }, 'the audit reports as expected').catch(() => undefined);
  expect(found).toEqual(expected);
  const list = Object.entries(expected).map(([id, count]) => `${id} ${count}`);
  site.note(`  the audit reports ${list.length === 0 ? 'nothing' : list.join(', ')}`);
}

const sorted = (counts: object) => Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other));

/** Runs the statement below this heading of the page. */
async function repair(service: Service, heading: string, ...values: readonly unknown[]): Promise<void> {
  const rows = await site.world.stack.database(service).query(documentedSql(PAGE, heading), values);
  site.note(`  ${heading} (${service}): ${rows.length} rows`);
}

/** The number of requests after the quiet instant that satisfy the predicate. */
const countOf = (holds: (step: Step) => boolean) => site.after.filter(holds).length;
const creates = (contestService: ContestService) =>
  countOf(({ game, act }) => game.contestService === contestService && act === 'create');
/** Attempts entered before the instant and refunded after it. */
const carriedRefunds = (contestService: ContestService) =>
  site.carried.games.filter(
    ({ game, end }) => game.contestService === contestService && (end === 'expire' || end === 'void'),
  ).length;
const wins = () => countOf(({ act }) => act === 'win');
const ENTRANTS = 3;

async function sendAllAgain(): Promise<readonly RepeatedStep[]> {
  const again = await sendAgain(site.world, site.developer.program, site.after);
  const counts = tally(again.map(({ answer }) => answer));
  site.note(`  ${again.length} requests sent again: ${JSON.stringify(counts)}`);
  await site.settled();
  return again;
}

/**
 * Expects the same attempts, outcomes, receipts and awards in the new responses. An outcome that is
 * recorded again has another instant.
 */
function expectSameOperations(again: readonly RepeatedStep[]): void {
  for (const { step, answer } of again) {
    if (step.act === 'create') expect((answer.body as Attempt).id).toBe((step.answer.body as Attempt).id);
    if (step.act !== 'lose' && step.act !== 'win') continue;
    const [first, second] = [step.answer.body as Outcome, expectStatus(200, answer).body as Outcome];
    expect(second.receipt_id).toBe(first.receipt_id);
    expect(second.award?.id).toBe(first.award?.id);
  }
}

const cents = (amount: string) => Math.round(Number(amount) * 100);

describe('restores of six databases from base backups that were taken under load', { timeout: TEST_MS }, () => {
  test('six databases that are restored to the end of their archives have lost nothing', async () => {
    await site.restore({});
    await site.settled();
    expect(await site.read()).toEqual(site.atEnd);
    await expectReported({});
  });

  test.each(CONTEST_SERVICES)(
    'requests that are sent again after the %s database alone is restored are charged and paid once',
    async (contestService) => {
      const checks = CHECKS[contestService];
      await site.restore({ [contestService]: site.quiet });
      await expectReported({
        [checks.feeWithoutAttempt]: creates(contestService),
        [checks.refund]: carriedRefunds(contestService),
        [checks.payoutWithoutAward]: contestService === 'challenge' ? wins() : ENTRANTS,
      });

      await site.world.stack.stop('gateway');
      await repair('gateway', 'Reopen the keys of an interval', site.quiet);
      await site.world.stack.restart('gateway');
      const again = await sendAllAgain();
      if (contestService === 'challenge') await pushReport(site.world, site.contests.target, site.carried.pushed);
      else expectStatus(200, await site.developer.program.test.closeRound(site.contests.cup.id));
      await site.settled();
      expectSameOperations(again);
      expect(await site.read()).toEqual(site.atEnd);
      await expectReported({});
    },
  );

  test('prizes, refunds and open fees are posted again after the wallet alone is restored', async () => {
    await site.restore({ wallet: site.quiet });
    await expectReported({
      ...Object.fromEntries(
        CONTEST_SERVICES.map((contestService) => [CHECKS[contestService].attemptWithoutFee, creates(contestService)]),
      ),
      ...Object.fromEntries(
        CONTEST_SERVICES.map((contestService) => [CHECKS[contestService].refund, carriedRefunds(contestService)]),
      ),
      [CHECKS.challenge.awardWithoutPayout]: wins(),
      [CHECKS.tournament.awardWithoutPayout]: ENTRANTS,
    });

    await site.world.stack.stop('gateway');
    await repair('gateway', 'Reopen the keys of an interval', site.quiet);
    await site.world.stack.restart('gateway');
    const owed = await violations();
    for (const contestService of CONTEST_SERVICES) {
      const ids = owed.find(({ id }) => id === CHECKS[contestService].refund)?.examples ?? [];
      expect(ids).toHaveLength(carriedRefunds(contestService));
      await repair(contestService, `Refund again, in the ${contestService} database`, ids);
      await repair(contestService, 'Charge an interval again', site.quiet);
    }
    await repair('challenge', 'Pay the prizes of an interval again', site.quiet);
    await repair('tournament', 'Pay the purses of an interval again', site.quiet);
    for (const deposit of site.deposits) await bookDeposit(site.world, deposit);
    expectSameOperations(await sendAllAgain());

    const { balances, statuses } = await site.read();
    expect(statuses).toEqual(site.atEnd.statuses);
    const ended = site.after
      .filter(({ act }) => act === 'create')
      .map(({ game }) => ({ game, status: site.statusOf(game) }));
    await expectReported(
      Object.fromEntries(
        CONTEST_SERVICES.map((contestService) => [
          CHECKS[contestService].attemptWithoutFee,
          ended.filter(({ game, status }) => game.contestService === contestService && status !== 'open').length,
        ]),
      ),
    );
    // A player has the fee of each settled attempt back. A refunded attempt changes no balance,
    // because both its fee and its refund are lost.
    for (const [index, player] of site.players.entries()) {
      const played = ended.filter(({ game, status }) => game.player === player && status === 'settled').length;
      expect(cents(balances[index] ?? '')).toBe(cents(site.atEnd.balances[index] ?? '') + played * CENTS.fee);
    }
  });

  test('a repeated request is replayed and charges nothing after the gateway alone is restored', async () => {
    await site.restore({ gateway: site.quiet });
    await expectReported({});
    const again = (await sendAllAgain()).filter(({ step }) => step.act !== 'expire' && step.act !== 'void');
    for (const { step, answer } of again) {
      expect([answer.status, answer.text]).toEqual([step.answer.status, step.answer.text]);
      expect(answer.headers['idempotency-replayed']).toBe('true');
    }
    expect(await site.read()).toEqual(site.atEnd);
    await expectReported({});
    expectError(401, 'unauthorized', await site.lastMoments.program.test.listTournaments());
  });

  test('deliveries that the webhook service lost in a restore are not sent again', async () => {
    const [lost] = site.after.filter(({ game, act }) => act === 'lose' && game.contestService === 'challenge');
    const attemptId = lost?.game.id ?? '';
    const { deliveryId } = await site.hook.event('attempt.settled', attemptId);
    await site.restore({ webhook: site.quiet });
    await expectReported({});
    expectError(404, 'not_found', await site.developer.program.test.retryNow(deliveryId));
    const sends = site.hook.sendsOf(deliveryId).length;

    const open = gamesOf(site.after).find(
      (game) => game.contestService === 'challenge' && site.statusOf(game) === 'open',
    );
    expectStatus(200, await site.developer.program.test.reportOutcome(open?.id ?? '', { score: 1 }));
    await site.hook.event('attempt.settled', open?.id ?? '');
    await site.settled();
    expect(site.hook.sendsOf(deliveryId)).toHaveLength(sends);
  });

  test('a repeated push gets the same response after the integration service alone is restored', async () => {
    await site.restore({ integration: site.quiet });
    await expectReported({});
    expect((await pushReport(site.world, site.contests.target, site.carried.pushed)).text).toBe(
      site.lastMoments.pushed,
    );
    await site.world.stack
      .database('gateway')
      .query(documentedSql('docs/operations/lost-second.md', 'Announce programs again'));
    await eventually(async () => {
      const known = await site.world.stack
        .database('integration')
        .query('select 1 from programs where id = $1', [site.lastMoments.program.id]);
      const waiting = await site.world.stack
        .database('gateway')
        .query('select 1 from programs where announced_version < version');
      return (known.length === 1 && waiting.length === 0) || undefined;
    }, 'every program is announced');
    expect(await site.read()).toEqual(site.atEnd);
    await expectReported({});
  });

  test('requests that are sent again after all six databases are restored are executed once', async () => {
    await site.restore(byService(() => site.busy));
    await site.world.allDelivered();
    await expectReported({});
    await site.swept(site.busy);
    await expectReported({});
    for (const deposit of site.deposits) await bookDeposit(site.world, deposit);
    await expectStateOf(site.busy);

    const again = await sendAllAgain();
    const others = again.filter(
      ({ step, answer }) => step.act === 'create' && (answer.body as Attempt).id !== (step.answer.body as Attempt).id,
    );
    site.note(`  ${others.length} of them name other attempts than they did`);
    expect(others.length).toBeGreaterThan(0);
    await pushReport(site.world, site.contests.target, site.carried.pushed);
    expectStatus(200, await site.developer.program.test.closeRound(site.contests.cup.id));
    await site.settled();
    expect(await site.read()).toEqual(site.atEnd);
    await expectReported({});
    const [
      {
        step: { game },
      } = expect.fail('no attempt is another'),
    ] = others.filter(({ step }) => site.statusOf(step.game) === 'settled');
    await site.hook.event('attempt.settled', game.id);
  });
});

/**
 * Expects the effect of every request that was answered before the instant, and no effect of any
 * request that was sent after it. The balances must follow from the attempts.
 */
async function expectStateOf(instant: string): Promise<void> {
  const at = Date.parse(instant.replace(' ', 'T').replace(/\+00$/, 'Z'));
  const balances = new Map(site.players.map((player) => [player, FUNDS + CENTS.deposit]));
  const steps = [...site.before, ...site.after];
  const seen = { kept: 0, lost: 0, underWay: 0 };
  for (const game of gamesOf(steps)) {
    const [create, end] = steps.filter((step) => step.game === game);
    const read = await site.developer.program.test.getAttempt(game.id);
    const isThere = read.status === 200;
    const hasEnded = isThere && read.body.status !== 'open';
    for (const [step, isDone] of [
      [create, isThere],
      [end, hasEnded],
    ] as const) {
      if (step === undefined) continue;
      const time = step.answeredAt < at ? 'kept' : step.sentAt > at ? 'lost' : 'underWay';
      if (site.after.includes(step)) seen[time] += 1;
      if (time !== 'underWay') expect([step.act, game.id, isDone]).toEqual([step.act, game.id, time === 'kept']);
    }
    if (!isThere) continue;
    const fee = ['open', 'settled'].includes(read.body.status) ? CENTS.fee : 0;
    const prize = read.body.outcome?.award?.paid_at ? CENTS.prize : 0;
    balances.set(game.player, (balances.get(game.player) ?? 0) - fee + prize);
  }
  expect((await site.balances()).map(cents)).toEqual([...balances.values()]);
  expect(Math.min(seen.kept, seen.lost), 'requests on both sides of the instant').toBeGreaterThan(site.players.length);
  site.note(`  requests of the half with the instant: ${JSON.stringify(seen)}`);
}
