/**
 * Each event is emitted exactly once: the commit that makes a fact puts its event in the outbox,
 * and no step that runs again emits it again. The tests empty the outbox in between, as a consumer
 * does, so that a second insert would show. They also count every insert, even of an event that is
 * still in the outbox.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RefundReason } from '@laurel/proto/events';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { awardIdOfRank } from './domain/purse.ts';
import type { FailpointName } from './failpoints.ts';
import {
  drainEvents,
  drainOutboxForRound,
  eventsIn,
  inOrder,
  refunded,
  released,
  roundCancelled,
  roundSettled,
  settled,
} from './outbox.fixture.ts';
import {
  BY_SECONDS,
  created,
  type Harness,
  HOUR_MS,
  LIVE_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  useReplica,
  verdictOf,
} from './tournament.fixture.ts';

// Runs before any import: the failpoints library looks for its folder when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const h = useHarness({ takesEvents: true });
const replica = useReplica(h);

// Counts every insert into the outbox, before a conflict with existing rows is detected. A
// transaction that rolls back takes its counts with it. The role that runs the service has no
// access to the table.
const COUNT_INSERTS = `
create table outbox_inserts (event_id uuid not null);
create function count_outbox_insert() returns trigger language plpgsql security definer as $$
begin
  insert into outbox_inserts (event_id) values (new.event_id);
  return new;
end
$$;
create trigger outbox_counts_inserts before insert on outbox for each row execute function count_outbox_insert()`;

beforeAll(async () => {
  await h.database.query({ text: COUNT_INSERTS });
});
afterEach(async () => {
  const again = { text: 'select event_id from outbox_inserts group by event_id having count(*) > 1' };
  expect(await h.database.query(again)).toEqual([]);
});

function arm(point: FailpointName, action = 'throw'): void {
  writeFileSync(join(failpoints, point), action);
}

/** Runs every sweeper. A sweeper may fail at the armed failpoint; returns whether one did. */
async function sweepUntil(point: FailpointName): Promise<boolean> {
  arm(point);
  await Promise.allSettled([h.server.sweepOnce()]);
  return !existsSync(join(failpoints, point));
}

/**
 * A round of an hour with two scored attempts, and an open one that began a minute into the round.
 */
async function playedRound(terms: Parameters<Harness['openRound']>[0] = {}) {
  const round = await h.openRound(terms, { lengthMs: HOUR_MS });
  const [first, second, third] = await Promise.all([h.player(), h.player(), h.player()]);
  const best = created(await h.create(round.id, first.ref));
  const other = created(await h.create(round.id, second.ref));
  const startedAt = h.clock();
  recorded(await h.report(best.id, 9.5));
  recorded(await h.report(other.id, -1));
  h.clock.advance(60_000);
  const open = created(await h.create(round.id, third.ref));
  const outcomes = [settled(round.id, best, 9.5, startedAt), settled(round.id, other, -1, startedAt)];
  expect(await drainOutboxForRound(h, round.id)).toEqual(inOrder(outcomes));
  h.clock.advance(HOUR_MS - 60_000);
  return { round, best, other, open };
}

describe('an outcome that is recorded', () => {
  it('a recorded outcome emits one event, and a refused report emits none', async () => {
    const { round, attempt } = await h.openAttempt(BY_SECONDS);
    const report = { operationId: newId(), tiebreak: 4 };
    expect(verdictOf(await h.report(attempt.id, 12.25))).toBe('tiebreak_required');
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
    recorded(await h.report(attempt.id, 12.25, report));
    expect(await drainOutboxForRound(h, round.id)).toEqual([settled(round.id, attempt, 12.25, h.clock())]);

    h.clock.advance(1);
    recorded(await h.report(attempt.id, 12.25, report));
    expect(verdictOf(await h.report(attempt.id, 13, { tiebreak: 4 }))).toBe('attempt_already_settled');
    await h.server.sweepOnce();
    expect(await eventsIn(h)).toEqual([]);
  });

  it('the event of a recorded outcome names the player_ref that played the attempt', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const second = await h.secondRefOf(player);
    const attempts = [attempt, created(await h.create(round.id, second)), created(await h.create(round.id, second))];
    const reports = [...attempts, ...attempts].map(({ id: attemptId }, score) => ({
      operationId: newId(),
      attemptId,
      tenant: PROGRAM,
      score,
      tiebreak: undefined,
      evidenceJson: '',
      requestId: 'r',
      keyUse: undefined,
    }));
    expectAccepted(await h.tournament.reportOutcomes({ reports }));
    const expected = attempts.map((one, score) => settled(round.id, one, score, h.clock()));
    expect(expected.map(({ payload }) => payload?.value)).toMatchObject(
      [player.ref, second, second].map((playerRef) => ({ playerRef })),
    );
    expect(await drainOutboxForRound(h, round.id)).toEqual(inOrder(expected));
  });

  it('the event of a recorded outcome names the environment of the outcome', async () => {
    const round = await h.openRound({}, { tenant: LIVE_PROGRAM });
    const player = await h.player(undefined, undefined, LIVE_PROGRAM);
    const attempt = created(await h.create(round.id, player.ref, undefined, LIVE_PROGRAM));
    recorded(await h.report(attempt.id, 1, { tenant: LIVE_PROGRAM }));
    const event = settled(round.id, attempt, 1, h.clock());
    expect(await drainOutboxForRound(h, round.id)).toEqual([{ ...event, tenant: LIVE_PROGRAM }]);
  });

  it('an outcome whose commit was rolled back emits no event before its retry', async () => {
    const { round, attempt } = await h.openAttempt();
    const operation = { operationId: newId() };
    arm('tournament.outcome.before-commit');
    expect(verdictOf(await h.report(attempt.id, 7, operation))).toBe('failure');
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
    recorded(await h.report(attempt.id, 7, operation));
    expect(await drainOutboxForRound(h, round.id)).toEqual([settled(round.id, attempt, 7, h.clock())]);
  });

  it('an outcome and its event are written together or not at all', async () => {
    const { round, attempt } = await h.openAttempt();
    const run = (text: string) => h.database.query({ text });
    await run('alter table outcomes add constraint outcomes_of_this_test check (score <> 666)');
    expect(verdictOf(await h.report(attempt.id, 666))).toBe('failure');
    await run('alter table outcomes drop constraint outcomes_of_this_test');
    expect(await eventsIn(h)).toEqual([]);

    await run('alter table outbox rename to outbox_out_of_sight');
    expect(verdictOf(await h.report(attempt.id, 7))).toBe('failure');
    await run('alter table outbox_out_of_sight rename to outbox');
    recorded(await h.report(attempt.id, 8));
    expect(await drainOutboxForRound(h, round.id)).toEqual([settled(round.id, attempt, 8, h.clock())]);
  });

  it('an outcome emits one event even if its process dies after the commit', async () => {
    const { round, attempt } = await h.openAttempt();
    const operation = { operationId: newId() };
    arm('tournament.outcome.after-commit');
    expect(verdictOf(await h.report(attempt.id, 7, operation))).toBe('failure');
    expect(await drainOutboxForRound(h, round.id)).toEqual([settled(round.id, attempt, 7, h.clock())]);
    recorded(await h.report(attempt.id, 7, operation));
    expect(await eventsIn(h)).toEqual([]);
  });
});

describe('a fee that was returned', () => {
  it('a refund emits its event with the reason of the refund', async () => {
    const { EXPIRED, ROUND_CLOSED, VOIDED } = RefundReason;
    const { round, player, attempt: voided } = await h.openAttempt();
    expectAccepted(await h.tournament.voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    expect(await drainOutboxForRound(h, round.id)).toEqual([refunded(round.id, voided, VOIDED, h.clock())]);

    const byHand = created(await h.create(round.id, player.ref));
    expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: byHand.id }));
    expect(await drainOutboxForRound(h, round.id)).toEqual([refunded(round.id, byHand, EXPIRED, h.clock())]);

    const atItsHour = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    expect(await drainOutboxForRound(h, round.id)).toEqual([refunded(round.id, atItsHour, EXPIRED, h.clock())]);

    const short = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const withItsRound = created(await h.create(short.id, player.ref));
    h.clock.advance(HOUR_MS / 2);
    expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: withItsRound.id }));
    expect(await drainOutboxForRound(h, short.id)).toEqual([refunded(short.id, withItsRound, ROUND_CLOSED, h.clock())]);
  });

  it('a refund that was interrupted after any of its steps emits one event', async () => {
    const points = ['before-call', 'after-call', 'before-commit', 'after-commit'] as const;
    for (const point of points) {
      const { round, attempt } = await h.openAttempt();
      const request = { attemptId: attempt.id, reason: 'a test' };
      arm(`tournament.refund.${point}`);
      await expect(h.tournament.voidAttempt(request)).rejects.toThrow();
      const before = await drainOutboxForRound(h, round.id);
      // A second void is refused if the first had finished.
      expect('code' in (await h.tournament.voidAttempt(request))).toBe(point === 'after-commit');
      await h.server.sweepOnce();
      const expected = [...before, ...(await drainOutboxForRound(h, round.id))];
      expect(expected).toEqual([refunded(round.id, attempt, RefundReason.VOIDED, h.clock())]);
      expect(before).toHaveLength(point === 'after-commit' ? 1 : 0);
      await replica.server.sweepOnce();
      expect(await eventsIn(h)).toEqual([]);
    }
  });
});

describe('a round that ends', () => {
  it('a settled round emits one event, and another for each refunded fee', async () => {
    const { round, open } = await playedRound();
    await h.server.sweepOnce();
    const expected = [
      refunded(round.id, open, RefundReason.ROUND_CLOSED, h.clock()),
      // No entry reached the third rank.
      roundSettled(round, 2n, 15_000n, h.clock()),
    ];
    expect(await drainOutboxForRound(h, round.id)).toEqual(inOrder(expected));
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    await replica.server.sweepOnce();
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
  });

  it('a cancelled round emits one event, and one more for each refunded fee', async () => {
    const { round, best, other, open } = await playedRound({ minEntrants: 4 });
    await h.server.sweepOnce();
    const fees = [best, other, open].map((one) => refunded(round.id, one, RefundReason.ROUND_CANCELLED, h.clock()));
    expect(await drainOutboxForRound(h, round.id)).toEqual(inOrder([...fees, roundCancelled(round, h.clock())]));
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    await replica.server.sweepOnce();
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
  });

  it('a round that is closed manually emits its events before the response', async () => {
    const empty = await h.openRound();
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: empty.id }));
    expect(await drainOutboxForRound(h, empty.id)).toEqual([roundCancelled(empty, h.clock())]);
    const { round, player, attempt } = await h.openAttempt({ minEntrants: 1, minScoredAttempts: 0 });
    recorded(await h.report(created(await h.create(round.id, player.ref)).id, 1));
    await drainOutboxForRound(h, round.id);
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    const expected = [
      refunded(round.id, attempt, RefundReason.ROUND_CLOSED, h.clock()),
      roundSettled(round, 1n, 10_000n, h.clock()),
    ];
    expect(await drainOutboxForRound(h, round.id)).toEqual(inOrder(expected));
  });

  it('a round emits each of its events once, even if several replicas end it at the same time', async () => {
    for (const point of ['close', 'award', 'seal', 'refund', 'cancel'] as const) {
      const cancelled = await h.openRound({}, { lengthMs: HOUR_MS });
      const { round, open } = await playedRound();
      const endedAt = h.clock();
      arm(`tournament.${point}.before-commit`, 'delay:100');
      await Promise.all([h.server, replica.server, h.server, replica.server].map(({ sweepOnce }) => sweepOnce()));
      const expected = [
        refunded(round.id, open, RefundReason.ROUND_CLOSED, endedAt),
        roundSettled(round, 2n, 15_000n, endedAt),
        roundCancelled(cancelled, endedAt),
      ];
      expect(await drainEvents(h)).toEqual(inOrder(expected));
      await Promise.all([h.server.sweepOnce(), replica.server.sweepOnce()]);
      expect(await eventsIn(h)).toEqual([]);
    }
  });
});

const REFUND = ['refund.before-call', 'refund.after-call', 'refund.before-commit', 'refund.after-commit'] as const;
const CLOSE = ['close.before-commit', 'close.after-commit'] as const;
const PAY = ['award.before-pay', 'award.after-pay', 'award.before-commit', 'award.after-commit'] as const;
const SEAL = ['seal.before-commit', 'seal.after-commit'] as const;
const CANCEL = ['cancel.before-commit', 'cancel.after-commit'] as const;

describe('a round whose end is interrupted', () => {
  it.each([...CLOSE, ...PAY, ...SEAL, ...REFUND])(
    'a settled round whose end failed at %s emits round.settled once',
    async (point) => {
      const { round, open } = await playedRound();
      expect(await sweepUntil(`tournament.${point}`)).toBe(true);
      const before = await drainOutboxForRound(h, round.id);
      await replica.server.sweepOnce();
      const behind = await drainOutboxForRound(h, round.id);
      const expected = [
        refunded(round.id, open, RefundReason.ROUND_CLOSED, h.clock()),
        roundSettled(round, 2n, 15_000n, h.clock()),
      ];
      expect(inOrder([...before, ...behind])).toEqual(inOrder(expected));
      await h.server.sweepOnce();
      expect(await drainOutboxForRound(h, round.id)).toEqual([]);
    },
  );

  it.each([...CLOSE, ...REFUND, ...CANCEL])(
    'a cancelled round whose end failed at %s emits round.cancelled once',
    async (point) => {
      const { round, best, other, open } = await playedRound({ minScoredAttempts: 3 });
      expect(await sweepUntil(`tournament.${point}`)).toBe(true);
      const before = await drainOutboxForRound(h, round.id);
      await replica.server.sweepOnce();
      const behind = await drainOutboxForRound(h, round.id);
      const fees = [best, other, open].map((one) => refunded(round.id, one, RefundReason.ROUND_CANCELLED, h.clock()));
      expect(inOrder([...before, ...behind])).toEqual(inOrder([...fees, roundCancelled(round, h.clock())]));
      await h.server.sweepOnce();
      expect(await drainOutboxForRound(h, round.id)).toEqual([]);
    },
  );
});

describe('a purse that is held', () => {
  /** The purse of the only player of a settled round, held by the wallet. */
  async function heldPurse() {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: player.ref } }));
    await drainEvents(h);
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    expect(await drainOutboxForRound(h, round.id)).toEqual([roundSettled(round, 1n, 10_000n, h.clock())]);
    return { round, awardId: awardIdOfRank(round.id, 1), playerRef: player.ref, amountCents: 10_000n };
  }

  async function paidAt(awardId: string): Promise<Date> {
    const [row] = await h.database.query<{ paid_at: Date | null }>(
      { text: 'select paid_at from round_payouts where award_id = $1' },
      [awardId],
    );
    if (row?.paid_at == null) throw new Error(`award ${awardId} is not paid`);
    return row.paid_at;
  }

  it('a held purse emits one event once it was released and paid', async () => {
    const { round, ...purse } = await heldPurse();
    const { awardId } = purse;
    expectAccepted(await h.tournament.releaseAward({ awardId }));
    expect(await drainOutboxForRound(h, round.id)).toEqual([released(round.id, purse, await paidAt(awardId))]);
    expectAccepted(await h.tournament.releaseAward({ awardId }));
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
  });

  it('a held purse emits one event even if its release was interrupted', async () => {
    for (const point of ['award.before-commit', 'award.after-commit'] as const) {
      const { round, ...purse } = await heldPurse();
      const { awardId } = purse;
      arm(`tournament.${point}`);
      expectAccepted(await h.tournament.releaseAward({ awardId }));
      const before = await drainOutboxForRound(h, round.id);
      expect(before).toHaveLength(point === 'award.after-commit' ? 1 : 0);
      h.clock.advance(2_000);
      await Promise.all([h.server.sweepOnce(), replica.server.sweepOnce()]);
      const expected = [...before, ...(await drainOutboxForRound(h, round.id))];
      expect(expected).toEqual([released(round.id, purse, await paidAt(awardId))]);
    }
  });

  it('a held purse emits no event if it is denied', async () => {
    const { round, awardId } = await heldPurse();
    expectAccepted(await h.tournament.denyAward({ awardId }));
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    expect(await drainOutboxForRound(h, round.id)).toEqual([]);
  });
});
