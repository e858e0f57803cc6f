/**
 * The end of a round, from the clock to the last cent: settled, cancelled, interrupted, and at
 * several replicas.
 */

import { AttemptStatus } from '@laurel/proto/attempts';
import { PayoutStatus, RoundStatus, ThresholdDirection, TournamentStatus } from '@laurel/proto/tournament';
import { expectAccepted, type TestPlayer } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { entryIdOf } from '../domain/entry-decision.ts';
import { awardIdOfRank } from '../domain/purse.ts';
import { boardOf, play, roundOf, statusOf, tableOf } from '../rounds.fixture.ts';
import {
  BY_SECONDS,
  created,
  FEE,
  FUNDS,
  type Harness,
  HOUR_MS,
  PROGRAM,
  TEN_MINUTES_MS,
  useHarness,
  useReplica,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();
const replica = useReplica(h);

const playersOf = (count: number) => Promise.all(Array.from({ length: count }, () => h.player()));
const balancesOf = (players: readonly TestPlayer[]) =>
  Promise.all(players.map(({ accountId }) => h.balance(accountId)));

/** A round of an hour in which these players have scored, the first one best. */
async function playedRound(players: readonly TestPlayer[], terms: Parameters<Harness['openRound']>[0] = {}) {
  const round = await h.openRound(terms, { lengthMs: HOUR_MS });
  for (const [index, player] of players.entries()) await play(h, round.id, player, 100 - index);
  return round;
}

/** All purse transfers to the player's account. */
async function pursesOf({ accountId }: TestPlayer): Promise<readonly bigint[]> {
  const environment = PROGRAM.environment;
  const { lines } = expectAccepted(await h.wallet.getStatement({ accountId, environment, limit: 100, cursor: '' }));
  return lines.filter(({ kind }) => kind === 'purse').map(({ amountCents }) => amountCents);
}

describe('a round that is over', () => {
  it('a round that is over is settled, and its purse is paid', async () => {
    const players = await playersOf(5);
    const terms = {
      name: 'Cup',
      description: undefined,
      metricName: 'distance',
      metricUnit: 'm',
      thresholdDirection: ThresholdDirection.LOWER_IS_BETTER,
      tiebreak: undefined,
      entryFeeCents: FEE,
      attemptCap: 2,
      purseTable: [7_000n, 3_000n, 1_000n].map((amountCents, index) => ({ rank: index + 1, amountCents })),
      minEntrants: 4,
      minScoredAttempts: 5,
      roundLengthSeconds: 3_600,
    };
    const { tournament } = expectAccepted(await h.tournament.createTournament({ tenant: PROGRAM, terms }));
    const roundId = tournament?.currentRound?.id ?? '';
    // All players but the last play. The first plays twice, worse the second time. The second also
    // leaves an attempt open.
    for (const [index, player] of players.slice(0, 4).entries()) await play(h, roundId, player, index * 1.5 - 1);
    await play(h, roundId, players[0] ?? { ref: '' }, 9);
    h.clock.advance(HOUR_MS - TEN_MINUTES_MS - 1);
    const open = [players[1], players[4]].map(async (player) => created(await h.create(roundId, player?.ref ?? '')));
    const [openOfSecond, openOfLast] = await Promise.all(open);
    h.clock.advance(1);
    expect(verdictOf(await h.create(roundId, players[2]?.ref ?? ''))).toBe('entries_closed');
    h.clock.advance(TEN_MINUTES_MS);
    expect(verdictOf(await h.report(openOfLast?.id ?? '', 0))).toBe('round_closed');

    await h.server.sweepOnce();

    expect(await roundOf(h, roundId)).toMatchObject({
      status: RoundStatus.SETTLED,
      settledAt: h.clock(),
      // The fifth player's only attempt is still open, so this player is no entrant.
      entrantCount: 4,
    });
    const table = await tableOf(h, roundId);
    expect(table.map((row) => [row.playerRef, row.rank, row.finalRank, row.payoutCents, row.payoutStatus])).toEqual([
      [players[0]?.ref, 1n, 1n, 7_000n, PayoutStatus.PAID],
      [players[1]?.ref, 2n, 2n, 3_000n, PayoutStatus.PAID],
      [players[2]?.ref, 3n, 3n, 1_000n, PayoutStatus.PAID],
      [players[3]?.ref, 4n, 4n, 0n, PayoutStatus.NONE],
    ]);
    expect(table.map((row) => row.paidAttempts)).toEqual([2, 1, 1, 1]);
    for (const attempt of [openOfSecond, openOfLast]) {
      expect(await statusOf(h, attempt?.id ?? '')).toBe(AttemptStatus.EXPIRED);
    }
    await h.server.sweepOnce();
    expect(await balancesOf(players)).toEqual([
      FUNDS - 2n * FEE + 7_000n,
      FUNDS - FEE + 3_000n,
      FUNDS - FEE + 1_000n,
      FUNDS - FEE,
      FUNDS,
    ]);
    const listed = expectAccepted(await h.tournament.listTournaments({ tenant: PROGRAM, all: false })).tournaments;
    expect(listed.find(({ id }) => id === tournament?.id)?.currentRound).toMatchObject({
      status: RoundStatus.OPEN,
      opensAt: h.clock(),
      entrantCount: 0,
    });
    const closed = { tournamentId: tournament?.id ?? '', status: TournamentStatus.CLOSED };
    expectAccepted(await h.tournament.updateTournamentStatus(closed));
    expect(await h.violations()).toEqual([]);
  });

  it('a round with too few entrants or too few scores is cancelled, and every fee is refunded', async () => {
    const players = await playersOf(2);
    for (const terms of [{ minEntrants: 3 }, { minScoredAttempts: 3 }]) {
      const before = await balancesOf(players);
      const round = await playedRound(players, terms);
      const [first, second] = players;
      h.clock.advance(1);
      const open = created(await h.create(round.id, first?.ref ?? ''));
      const expired = created(await h.create(round.id, second?.ref ?? ''));
      expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: expired.id }));
      h.clock.advance(HOUR_MS - 1);
      await h.server.sweepOnce();
      await h.server.sweepOnce();

      expect(await balancesOf(players)).toEqual(before);
      expect(await roundOf(h, round.id)).toMatchObject({ status: RoundStatus.CANCELLED, entrantCount: 2 });
      const board = await boardOf(h, round.id, first?.ref);
      expect(board.scoredPlayers).toBe(2);
      const rows = (await tableOf(h, round.id)).map((row) => [
        row.rank,
        row.playerRef,
        row.finalRank,
        row.payoutCents,
        row.payoutStatus,
        row.paidAttempts,
      ]);
      expect(rows).toEqual([
        [1n, first?.ref, undefined, 0n, PayoutStatus.REFUNDED, 2],
        [2n, second?.ref, undefined, 0n, PayoutStatus.REFUNDED, 1],
      ]);
      expect(await statusOf(h, open.id)).toBe(AttemptStatus.EXPIRED);
      const reasons = await h.database.query(
        { text: 'select closed_reason from attempts where round_id = $1 and status = $2 order by 1' },
        [round.id, 'expired'],
      );
      expect(reasons).toEqual([{ closed_reason: 'round_cancelled' }, { closed_reason: null }]);
      expect(await h.violations()).toEqual([]);
    }
  });

  it('equal scores rank by tiebreak and then by time', async () => {
    const [slow, fast, early, late] = await playersOf(4);
    const round = await h.openRound(BY_SECONDS, { lengthMs: HOUR_MS });
    const at = async (player: TestPlayer | undefined, tiebreak: number) => {
      await play(h, round.id, player ?? { ref: '' }, 10, { tiebreak });
      h.clock.advance(1);
    };
    await at(slow, 9);
    await at(early, 5);
    await at(late, 5);
    await at(fast, -3.5);
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    expect((await tableOf(h, round.id)).map(({ playerRef }) => playerRef)).toEqual(
      [fast, early, late, slow].map((player) => player?.ref),
    );
  });

  it('a prize is never divided: the entry id decides between equal runs', async () => {
    const players = await playersOf(3);
    const round = await h.openRound({ purse: [cents(300n), cents(200n)] }, { lengthMs: HOUR_MS });
    for (const player of players) await play(h, round.id, player, 5);
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    const byEntry = players.toSorted((one, other) =>
      entryIdOf(round.id, one.accountId) < entryIdOf(round.id, other.accountId) ? -1 : 1,
    );
    const table = await tableOf(h, round.id);
    expect(table.map(({ playerRef }) => playerRef)).toEqual(byEntry.map(({ ref }) => ref));
    expect(table.map(({ payoutCents }) => payoutCents)).toEqual([300n, 200n, 0n]);
  });
});

describe('a purse behind an open investigation', () => {
  it('a purse of a player under investigation is held until an operator decides', async () => {
    const players = await playersOf(3);
    const [released, denied, clean] = players;
    for (const player of [released, denied]) {
      const change = {
        selfExcludedUntil: undefined,
        clearSelfExclusion: false,
        enforcementFlag: undefined,
        blocked: undefined,
        jurisdiction: undefined,
        verificationLevel: undefined,
      };
      expectAccepted(
        await h.wallet.updateAccount({ ...change, accountId: player?.accountId ?? '', underInvestigation: true }),
      );
    }
    const round = await playedRound(players);
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    const statuses = async () => (await tableOf(h, round.id)).map(({ payoutStatus }) => payoutStatus);
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLED);
    expect(await statuses()).toEqual([PayoutStatus.HELD, PayoutStatus.HELD, PayoutStatus.PAID]);
    expect(await Promise.all(players.map(pursesOf))).toEqual([[], [], [5_000n]]);

    expectAccepted(await h.tournament.releaseAward({ awardId: awardIdOfRank(round.id, 1) }));
    expectAccepted(await h.tournament.denyAward({ awardId: awardIdOfRank(round.id, 2) }));
    await h.server.sweepOnce();
    expect(await statuses()).toEqual([PayoutStatus.PAID, PayoutStatus.HELD, PayoutStatus.PAID]);
    expect(await Promise.all(players.map(pursesOf))).toEqual([[10_000n], [], [5_000n]]);
    expect(await h.balance(clean?.accountId ?? '')).toBe(FUNDS - FEE + 5_000n);
  });
});

describe('a settlement that is interrupted', () => {
  it('a settlement happens once, however long the services were down', async () => {
    const players = await playersOf(2);
    const round = await playedRound(players);
    await h.stopWallet();
    h.clock.advance(30 * 24 * HOUR_MS);
    // The decision does not need the wallet; the steps after it wait for the wallet.
    await expect(h.server.sweepOnce()).rejects.toThrow();
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLING);
    const running = await boardOf(h, round.id, players[0]?.ref);
    expect(running.rows).toMatchObject([
      { rank: 1n, finalRank: undefined, payoutCents: undefined, payoutStatus: PayoutStatus.NONE },
      { rank: 2n, finalRank: undefined, payoutCents: undefined, payoutStatus: PayoutStatus.NONE },
    ]);
    await h.startWallet();

    // The replica is a process without earlier state.
    const fresh = await h.startReplica();
    await fresh.server.sweepOnce();
    await fresh.server.sweepOnce();
    await fresh[Symbol.asyncDispose]();
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLED);
    expect(await Promise.all(players.map(pursesOf))).toEqual([[10_000n], [5_000n]]);
    expect(await h.violations()).toEqual([]);
  });

  it('an interrupted settlement continues from its last commit', async () => {
    const players = await playersOf(3);
    const round = await playedRound(players);
    await h.stopWallet();
    h.clock.advance(HOUR_MS);
    await expect(h.server.sweepOnce()).rejects.toThrow();
    await h.startWallet();
    // The wallet paid the winner, and its response was lost with the process.
    const winner = players[0]?.accountId ?? '';
    const payment = { awardId: awardIdOfRank(round.id, 1), attemptId: '', roundId: round.id, tenant: PROGRAM };
    expectAccepted(await h.wallet.payAwards({ payments: [{ ...payment, accountId: winner, amountCents: 10_000n }] }));
    await h.server.sweepOnce();
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLED);
    expect(await Promise.all(players.map(pursesOf))).toEqual([[10_000n], [5_000n], [5_000n]]);
  });

  it('an interrupted settlement is retried until the wallet is up', async () => {
    const players = await playersOf(2);
    const round = await playedRound(players, { minEntrants: 3 });
    await h.stopWallet();
    h.clock.advance(HOUR_MS);
    for (let run = 0; run < 3; run += 1) await expect(h.server.sweepOnce()).rejects.toThrow();
    // The decision is durable: a partner reads it before the fees are returned.
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.CANCELLED);
    expect(await h.database.query({ text: 'select status from rounds where id = $1' }, [round.id])).toEqual([
      { status: 'cancelling' },
    ]);
    await h.startWallet();
    await h.server.sweepOnce();
    expect(await balancesOf(players)).toEqual([FUNDS, FUNDS]);
    expect(await h.database.query({ text: 'select status from rounds where id = $1' }, [round.id])).toEqual([
      { status: 'cancelled' },
    ]);
  });

  it('an interrupted settlement does not block the settlement of other rounds', async () => {
    const players = await playersOf(1);
    const rounds = [await playedRound(players), await playedRound(players), await playedRound(players)];
    const broken = rounds[1]?.id ?? '';
    const damage = (by: number) =>
      h.database.query(
        { text: 'update round_tallies set scored_attempts = scored_attempts + $2 where round_id = $1' },
        [broken, by],
      );
    await damage(1);
    h.clock.advance(HOUR_MS);
    await expect(h.server.sweepOnce()).rejects.toThrow(/^1 of \d rounds failed/);
    const statuses = () => Promise.all(rounds.map(async ({ id }) => (await roundOf(h, id)).status));
    expect(await statuses()).toEqual([RoundStatus.SETTLED, RoundStatus.SETTLING, RoundStatus.SETTLED]);
    await damage(-1);
    await h.server.sweepOnce();
    expect(await statuses()).toEqual([RoundStatus.SETTLED, RoundStatus.SETTLED, RoundStatus.SETTLED]);
  });
});

describe('several replicas that settle the same rounds', () => {
  it('several replicas settle, pay, refund and seal each round once', async () => {
    const players = await playersOf(4);
    const before = await balancesOf(players);
    const rounds = [];
    for (let count = 0; count < 6; count += 1) {
      rounds.push(await playedRound(players, { minEntrants: count % 3 === 2 ? 5 : 1 }));
    }
    h.clock.advance(HOUR_MS);
    const sweeps = [h.server, replica.server, h.server, replica.server].map(({ sweepOnce }) => sweepOnce());
    await Promise.all(sweeps);
    await h.server.sweepOnce();
    const statuses = await Promise.all(rounds.map(async ({ id }) => (await roundOf(h, id)).status));
    const { SETTLED, CANCELLED } = RoundStatus;
    expect(statuses).toEqual([SETTLED, SETTLED, CANCELLED, SETTLED, SETTLED, CANCELLED]);
    expect(await Promise.all(players.map(pursesOf))).toEqual(
      [10_000n, 5_000n, 5_000n].map((amount) => Array.from({ length: 4 }, () => amount)).concat([[]]),
    );
    expect(await balancesOf(players)).toEqual(
      before.map((balance, index) => balance - 4n * FEE + 4n * ([10_000n, 5_000n, 5_000n][index] ?? 0n)),
    );
    const [seals] = await h.database.query(
      { text: 'select count(*)::int as seals from seals where round_id = any($1)' },
      [rounds.map(({ id }) => id)],
    );
    expect(seals).toEqual({ seals: 4 });
    expect(await h.violations()).toEqual([]);
  });

  it('two replicas admit no late entry and lose no score while a round closes', async () => {
    const players = await playersOf(6);
    for (let time = 0; time < 3; time += 1) {
      const round = await h.openRound({ attemptCap: 20 }, { lengthMs: HOUR_MS });
      const attempts = [];
      for (const { ref } of players) attempts.push(created(await h.create(round.id, ref)));
      h.clock.advance(HOUR_MS - TEN_MINUTES_MS - 1);
      const reports = attempts.map(({ id }, index) =>
        (index % 2 === 0 ? h : replica).tournament
          .reportOutcomes({
            reports: [
              {
                operationId: newId(),
                attemptId: id,
                tenant: PROGRAM,
                score: index,
                tiebreak: undefined,
                evidenceJson: '',
                requestId: 'r',
                keyUse: undefined,
              },
            ],
          })
          .then((answer) => verdictOf(expectAccepted(answer).results[0]?.result)),
      );
      h.clock.advance(TEN_MINUTES_MS + 1);
      const [verdicts] = await Promise.all([Promise.all(reports), h.server.sweepOnce(), replica.server.sweepOnce()]);
      await h.server.sweepOnce();
      const scored = verdicts.filter((verdict) => verdict === 'outcome').length;
      expect(
        verdicts.every(
          (verdict) => verdict === 'outcome' || verdict === 'round_closed' || verdict === 'attempt_already_settled',
        ),
      ).toBe(true);
      expect((await tableOf(h, round.id)).length).toBe(scored);
    }
    expect(await h.violations()).toEqual([]);
  });
});
