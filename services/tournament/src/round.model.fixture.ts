/**
 * A whole round against an in-memory reference, which implements the rules without the service's
 * storage. The moves are random: entries, scores, clock moves, expiries, reads, closings and an
 * operator's cancellation. At the end the table, every payout, every player's money, and every
 * event are compared.
 */

import { type Event, RefundReason } from '@laurel/proto/events';
import { type LeaderboardRow, PayoutStatus, GetLeaderboardResponse_View as View } from '@laurel/proto/tournament';
import { expectAccepted, type TestPlayer } from '@laurel/testing';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { entryIdOf } from './domain/entry-decision.ts';
import type { Direction, TournamentTerms } from './domain/tournament.ts';
import { drainEvents, inOrder, refunded, roundCancelled, roundSettled, settled } from './outbox.fixture.ts';
import { boardOf, tableOf } from './rounds.fixture.ts';
import { FEE, type Harness, HOUR_MS, PROGRAM, TEN_MINUTES_MS, useHarness, verdictOf } from './tournament.fixture.ts';

let h: Harness;

// --- the model in memory, with which the service is compared ---

type ModelAttempt = {
  readonly id: string;
  readonly ref: string;
  readonly accountId: string;
  readonly createdAt: number;
  /** `ended` by its deadline, its round or the sandbox; `voided` by an operator. */
  status: 'open' | 'settled' | 'ended' | 'voided';
  run: {
    readonly score: number;
    readonly tiebreak: number | null;
    readonly at: number;
    /** The number of runs reported before this one. An account keeps the first of equal runs. */
    readonly turn: number;
  } | null;
  /** Whether it was open when its round was cancelled. */
  endedByCancellation: boolean;
  /** Why its fee was returned; null if it was not. */
  refunded: RefundReason | null;
};

type ModelTerms = Pick<
  TournamentTerms,
  'direction' | 'tiebreak' | 'attemptCap' | 'purse' | 'minEntrants' | 'minScoredAttempts'
>;

/** The rules of the contract, on plain lists. */
class ModelRound {
  readonly attempts: ModelAttempt[] = [];
  outcome: 'open' | 'settled' | 'cancelled' = 'open';
  readonly id: string;
  readonly terms: ModelTerms;
  entriesCloseAt: number;
  closesAt: number;

  constructor(id: string, terms: ModelTerms, opensAt: number, lengthMs: number) {
    this.id = id;
    this.terms = terms;
    this.closesAt = opensAt + lengthMs;
    this.entriesCloseAt = Math.max(opensAt, this.closesAt - TEN_MINUTES_MS);
  }

  enter(attempt: Pick<ModelAttempt, 'id' | 'ref' | 'accountId'>, now: number): string {
    if (this.outcome !== 'open' || now >= this.entriesCloseAt) return 'entries_closed';
    const bought = this.of(attempt.accountId).filter(isKept).length;
    if (bought >= this.terms.attemptCap) return 'attempt_cap_reached';
    this.attempts.push({
      ...attempt,
      createdAt: now,
      status: 'open',
      run: null,
      endedByCancellation: false,
      refunded: null,
    });
    return 'attempt';
  }

  report(attempt: ModelAttempt, score: number, tiebreak: number | null, now: number): string {
    if (attempt.status === 'settled' || attempt.status === 'voided') return 'attempt_already_settled';
    const hour = attempt.createdAt + HOUR_MS;
    const isRoundOver = this.outcome !== 'open' || now >= this.closesAt;
    const hasExpired = attempt.refunded === RefundReason.EXPIRED;
    const endedByRound = !hasExpired && isRoundOver && !(now >= hour && hour <= this.closesAt);
    const isOver = isRoundOver || now >= hour || attempt.status === 'ended';
    if (isOver) {
      giveBack(attempt, endedByRound ? RefundReason.ROUND_CLOSED : RefundReason.EXPIRED);
      return endedByRound ? 'round_closed' : 'attempt_already_settled';
    }
    if (this.terms.tiebreak !== null && tiebreak === null) return 'tiebreak_required';
    attempt.status = 'settled';
    const turn = this.attempts.filter(({ run }) => run !== null).length;
    attempt.run = { score, tiebreak: this.terms.tiebreak === null ? null : tiebreak, at: now, turn };
    return 'outcome';
  }

  /** Does what the sweepers do at this instant. */
  sweep(now: number): void {
    for (const attempt of this.attempts) {
      if (now >= attempt.createdAt + HOUR_MS) giveBack(attempt, RefundReason.EXPIRED);
    }
    if (this.outcome === 'open' && now >= this.closesAt) this.end();
  }

  end(isCancelledByOperator = false): void {
    const scored = this.attempts.filter(({ run }) => run !== null).length;
    const isEnough = this.ranking().length >= this.terms.minEntrants && scored >= this.terms.minScoredAttempts;
    const runs = isEnough && !isCancelledByOperator;
    this.outcome = runs ? 'settled' : 'cancelled';
    for (const attempt of this.attempts) {
      attempt.endedByCancellation = attempt.status === 'open' && !runs;
      if (!runs && attempt.run !== null) attempt.refunded = RefundReason.ROUND_CANCELLED;
      giveBack(attempt, runs ? RefundReason.ROUND_CLOSED : RefundReason.ROUND_CANCELLED);
    }
  }

  /**
   * Accounts with a fee that was not returned; at the end, those who scored. A cancellation removes
   * none.
   */
  get entrants(): number {
    if (this.outcome !== 'open') return this.ranking().length;
    return new Set(this.attempts.filter(isKept).map(({ accountId }) => accountId)).size;
  }

  /** True for every account that is an entrant, or was one when the round was cancelled. */
  showsItsBoardTo(accountId: string): boolean {
    return this.of(accountId).some((attempt) => isKept(attempt) || attempt.endedByCancellation);
  }

  of(accountId: string): readonly ModelAttempt[] {
    return this.attempts.filter((attempt) => attempt.accountId === accountId);
  }

  /** One row for each account with a run, best first. */
  ranking(): readonly Required<Pick<ModelAttempt, 'ref' | 'accountId' | 'run'>>[] {
    const better = (one: ModelAttempt, other: ModelAttempt) => this.compare(one, other);
    const accounts = [...new Set(this.attempts.map(({ accountId }) => accountId))];
    const rows = accounts.flatMap((accountId) =>
      this.of(accountId)
        .filter(({ run }) => run !== null)
        .toSorted((one, other) => better(one, other) || (one.run?.turn ?? 0) - (other.run?.turn ?? 0))
        .slice(0, 1),
    );
    return rows.toSorted(
      (one, other) =>
        better(one, other) || (entryIdOf(this.id, one.accountId) < entryIdOf(this.id, other.accountId) ? -1 : 1),
    );
  }

  private compare({ run: one }: ModelAttempt, { run: other }: ModelAttempt): number {
    if (one === null || other === null) throw new Error('only runs are compared');
    const { direction, tiebreak } = this.terms;
    const worst = Number.POSITIVE_INFINITY;
    const loss = (value: number | null, as: Direction) =>
      value === null ? worst : as === 'higher_is_better' ? -value : value;
    const difference = (mine: number, theirs: number) => (mine === theirs ? 0 : mine - theirs);
    return (
      difference(loss(one.score, direction), loss(other.score, direction)) ||
      (tiebreak === null
        ? 0
        : difference(loss(one.tiebreak, tiebreak.direction), loss(other.tiebreak, tiebreak.direction))) ||
      one.at - other.at
    );
  }

  paidAttempts(accountId: string): number {
    return this.of(accountId).filter((attempt) => isKept(attempt) || attempt.endedByCancellation).length;
  }

  /** What the account won in the round, minus what it paid. */
  balanceChange(accountId: string): bigint {
    const paid = this.outcome === 'cancelled' ? 0 : this.of(accountId).filter(isKept).length;
    const rank = this.ranking().findIndex((row) => row.accountId === accountId);
    const won = this.outcome === 'settled' && rank >= 0 ? (this.terms.purse[rank] ?? 0n) : 0n;
    return won - FEE * BigInt(paid);
  }
}

/** Ends an open attempt, and returns its fee. */
function giveBack(attempt: ModelAttempt, reason: RefundReason): void {
  if (attempt.status !== 'open') return;
  attempt.status = reason === RefundReason.VOIDED ? 'voided' : 'ended';
  attempt.refunded = reason;
}

/** Whether the fee of the attempt is kept, as long as the round is not cancelled. */
function isKept({ status }: ModelAttempt): boolean {
  return status === 'open' || status === 'settled';
}

// The moves.

type Move =
  | { readonly kind: 'enter'; readonly ref: number }
  | { readonly kind: 'report'; readonly attempt: number; readonly score: number; readonly tiebreak: number | null }
  | { readonly kind: 'end'; readonly attempt: number; readonly by: 'sandbox' | 'operator' }
  | { readonly kind: 'look'; readonly ref: number }
  | { readonly kind: 'wait'; readonly ms: number; readonly sweeps: boolean }
  | { readonly kind: 'closeEntries' }
  | { readonly kind: 'close' }
  | { readonly kind: 'cancel' };

const REFS = 5;
// A few values, so that many are equal.
const value = fc.constantFrom(0, 0, 1, 1, -1, 0.5, 1e9);
const ref = fc.nat(REFS - 1);
const attempt = fc.nat(999);

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 16, arbitrary: fc.record({ kind: fc.constant('enter' as const), ref }) },
  {
    weight: 24,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      attempt,
      score: value,
      tiebreak: fc.option(value, { freq: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      attempt,
      by: fc.constantFrom('sandbox' as const, 'operator' as const),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('look' as const), ref }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 1, 1, 1, 1_000, TEN_MINUTES_MS, HOUR_MS / 2, HOUR_MS),
      sweeps: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'closeEntries' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'close' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
);

const direction = fc.constantFrom<Direction>('higher_is_better', 'lower_is_better');
const terms: fc.Arbitrary<ModelTerms> = fc.record({
  direction,
  tiebreak: fc.option(direction.map((of) => ({ metricName: 'seconds', direction: of }))),
  attemptCap: fc.integer({ min: 1, max: 4 }),
  purse: fc
    .constantFrom([900n], [900n, 500n], [900n, 500n, 500n], [900n, 500n, 500n, 1n, 1n])
    .map((purse) => purse.map(cents)),
  minEntrants: fc.integer({ min: 1, max: 3 }),
  minScoredAttempts: fc.integer({ min: 0, max: 3 }),
});

// Four accounts; the first has two refs.
let players: readonly { readonly ref: string; readonly accountId: string }[] = [];
async function play(model: ModelRound, step: Move): Promise<void> {
  const now = h.clock().getTime();
  switch (step.kind) {
    case 'enter': {
      const player = players[step.ref] ?? { ref: '', accountId: '' };
      const result = await h.create(model.id, player.ref);
      const id = result?.$case === 'attempt' ? result.value.id : '';
      expect(verdictOf(result)).toBe(model.enter({ id, ...player }, now));
      return;
    }
    case 'report': {
      const reported = model.attempts[step.attempt % model.attempts.length];
      if (reported === undefined) return;
      const tiebreak = step.tiebreak === null ? {} : { tiebreak: step.tiebreak };
      const result = await h.report(reported.id, step.score, tiebreak);
      expect(verdictOf(result)).toBe(model.report(reported, step.score, step.tiebreak, now));
      return;
    }
    case 'end': {
      const ended = model.attempts[step.attempt % model.attempts.length];
      const isRunning = model.outcome === 'open' && now < model.closesAt;
      if (ended?.status !== 'open' || !isRunning || now >= ended.createdAt + HOUR_MS) return;
      const attemptId = ended.id;
      if (step.by === 'sandbox') expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId }));
      else expectAccepted(await h.tournament.voidAttempt({ attemptId, reason: 'a broken game' }));
      giveBack(ended, step.by === 'sandbox' ? RefundReason.EXPIRED : RefundReason.VOIDED);
      return;
    }
    case 'look':
      return look(model, players[step.ref]?.ref ?? '');
    case 'wait':
      h.clock.advance(step.ms);
      if (!step.sweeps) return;
      await h.server.sweepOnce();
      model.sweep(h.clock().getTime());
      return;
    case 'closeEntries': {
      const answer = await h.tournament.closeEntries({ tenant: PROGRAM, roundId: model.id });
      expect('code' in answer ? answer.code : 'closed').toBe(model.outcome === 'open' ? 'closed' : 'conflict');
      if (model.outcome === 'open') model.entriesCloseAt = Math.min(model.entriesCloseAt, now);
      return;
    }
    case 'close': {
      const answer = await h.tournament.closeRound({ tenant: PROGRAM, roundId: model.id });
      expect('code' in answer ? answer.code : 'closed').toBe(model.outcome === 'open' ? 'closed' : 'conflict');
      if (model.outcome !== 'open') return;
      model.closesAt = Math.min(model.closesAt, now);
      model.end();
      return;
    }
    case 'cancel': {
      const cancellation = { roundId: model.id, reason: 'a broken game', operator: 'ada' };
      const answer = await h.tournament.cancelRound(cancellation);
      expect('code' in answer ? answer.code : 'cancelled').toBe(model.outcome === 'open' ? 'cancelled' : 'conflict');
      if (model.outcome !== 'open') return;
      model.closesAt = Math.min(model.closesAt, now);
      model.end(true);
      return;
    }
  }
}

async function look(model: ModelRound, playerRef: string): Promise<void> {
  const board = await boardOf(h, model.id, playerRef);
  const ranking = model.ranking();
  expect([board.round?.entrantCount, board.scoredPlayers]).toEqual([model.entrants, ranking.length]);
  const viewer = players.find(({ ref: one }) => one === playerRef);
  if (viewer === undefined || !model.showsItsBoardTo(viewer.accountId)) {
    expect([board.view, board.rows]).toEqual([View.MASKED, []]);
    return;
  }
  if (model.outcome !== 'open') {
    expect([board.view, board.rows]).toEqual([View.COMPLETE, []]);
    return;
  }
  const at = ranking.findIndex(({ accountId }) => accountId === viewer.accountId);
  const rows = at < 0 ? [] : ranking.map((_, index) => expectedRow(model, index)).slice(Math.max(0, at - 1), at + 2);
  expect([board.view, board.rows]).toEqual([View.WINDOW, rows]);
}

function expectedRow(model: ModelRound, index: number): LeaderboardRow {
  const row = model.ranking()[index];
  if (row?.run == null) throw new Error('no such row');
  const payout = model.terms.purse[index] ?? 0n;
  const decided = {
    open: { finalRank: undefined, payoutCents: undefined, payoutStatus: PayoutStatus.NONE },
    settled: {
      finalRank: BigInt(index + 1),
      payoutCents: payout,
      payoutStatus: payout > 0n ? PayoutStatus.PAID : PayoutStatus.NONE,
    },
    cancelled: { finalRank: undefined, payoutCents: 0n, payoutStatus: PayoutStatus.REFUNDED },
  }[model.outcome];
  return {
    rank: BigInt(index + 1),
    playerRef: row.ref,
    bestScore: row.run.score,
    bestTiebreak: row.run.tiebreak ?? undefined,
    bestScoreAt: new Date(row.run.at),
    paidAttempts: model.paidAttempts(row.accountId),
    entryId: expect.any(String),
    ...decided,
  };
}

/**
 * The ref that entered later reports first, and the account's two runs have the same score and
 * arrive in the same millisecond.
 */
const equalRunsOfOneAccount: [ModelTerms, number, Move[]] = [
  {
    direction: 'higher_is_better',
    tiebreak: null,
    attemptCap: 2,
    purse: [cents(900n)],
    minEntrants: 1,
    minScoredAttempts: 0,
  },
  2 * HOUR_MS,
  [
    { kind: 'enter', ref: 4 },
    { kind: 'enter', ref: 0 },
    { kind: 'report', attempt: 1, score: 1, tiebreak: null },
    { kind: 'report', attempt: 0, score: 1, tiebreak: null },
  ],
];

/**
 * The events of the round for a partner, without the instants at which a fee or the round ended:
 * those depend on the call or sweep that ends them.
 */
function expectedEvents(model: ModelRound, tournamentId: string): readonly Event[] {
  const round = { id: model.id, tournamentId };
  const ranked = model.ranking().length;
  const won = model.terms.purse.slice(0, ranked).reduce((sum, amount) => sum + amount, 0n);
  const ended =
    model.outcome === 'settled' ? roundSettled(round, BigInt(ranked), won, NO_TIME) : roundCancelled(round, NO_TIME);
  const attempts = model.attempts.flatMap(({ id, ref: playerRef, run, refunded: reason }) => [
    ...(run === null ? [] : [settled(model.id, { id, playerRef }, run.score, new Date(run.at))]),
    ...(reason === null ? [] : [refunded(model.id, { id, playerRef }, reason, NO_TIME)]),
  ]);
  return inOrder([ended, ...attempts]);
}

const NO_TIME = new Date(0);

/** An event in the form of `expectedEvents`. */
function timeless(event: Event): Event {
  return event.payload?.$case === 'attemptSettled' ? event : { ...event, occurredAt: NO_TIME };
}

const balances = () => Promise.all(players.map(({ accountId }) => h.balance(accountId)));

export function describeModel(numRuns: number): void {
  h = useHarness({ takesEvents: true });
  beforeAll(async () => {
    const accounts: TestPlayer[] = await Promise.all(
      Array.from({ length: REFS - 1 }, () => h.player(undefined, 1_000_000n)),
    );
    const [first] = accounts;
    if (first === undefined) throw new Error('no player');
    players = [...accounts, { ref: await h.secondRefOf(first), accountId: first.accountId }];
  });

  it('a round matches the reference model for any sequence of moves', async () => {
    const lengthMs = fc.constantFrom(1.1 * TEN_MINUTES_MS, HOUR_MS / 2, 2 * HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS);
    await fc.assert(
      fc.asyncProperty(
        terms,
        lengthMs,
        fc.array(move, { minLength: 5, maxLength: 60, size: 'max' }),
        async (frozen, length, moves) => {
          const before = await balances();
          const round = await h.openRound(frozen, { lengthMs: length });
          const model = new ModelRound(round.id, frozen, h.clock().getTime(), length);
          for (const step of moves) await play(model, step);

          h.clock.advance(3 * HOUR_MS);
          await h.server.sweepOnce();
          model.sweep(h.clock().getTime());
          for (const { ref: viewer } of players) await look(model, viewer);
          expect(await tableOf(h, round.id, 3)).toEqual(model.ranking().map((_, index) => expectedRow(model, index)));
          const changes = players.map(({ accountId }) => model.balanceChange(accountId));
          expect(await balances()).toEqual(before.map((balance, index) => balance + (changes[index] ?? 0n)));
          expect((await drainEvents(h)).map(timeless)).toEqual(expectedEvents(model, round.tournamentId));
        },
      ),
      { numRuns, examples: [equalRunsOfOneAccount] },
    );
  }, 180_000);
}
