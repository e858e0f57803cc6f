/**
 * Concurrent calls: no cap is exceeded, no fee is returned twice, and every score is either on its
 * round's board or refused.
 */

import { AttemptStatus } from '@laurel/proto/attempts';
import { countsOf, expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { findRound } from '../repository/rounds.ts';
import { roundOf } from '../rounds.fixture.ts';
import {
  BY_SECONDS,
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  PROGRAM,
  type Replica,
  recorded,
  useHarness,
  useReplica,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();
const other = useReplica(h);

/** Sends the items in calls of ten, to two replicas in turn, all concurrently. */
async function createEverywhere(creations: readonly { contestId: string; playerRef: string }[]) {
  const items = creations.map((creation) => ({
    ...creation,
    attemptId: newOwnedId('tournament'),
    tenant: PROGRAM,
    metadataJson: '{}',
    requestId: '',
    keyUse: undefined,
  }));
  const answers = await Promise.all(
    inTens(items).map((call, index) => (index % 2 === 0 ? h : other).tournament.createAttempts({ creations: call })),
  );
  return answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => result));
}

/**
 * Sends 200 creations of one player, twenty at a time on two replicas, and runs `end` in the
 * middle. Returns how often each verdict occurs.
 */
async function createUntil(end: () => Promise<unknown>, roundId: string, playerRef: string) {
  const verdicts: string[] = [];
  const ending = Promise.withResolvers<unknown>();
  await Promise.all(
    Array.from({ length: 20 }, async (_, lane) => {
      const client = (lane % 2 === 0 ? h : other).tournament;
      for (let turn = 0; turn < 10; turn += 1) {
        const attemptId = newOwnedId('tournament');
        const creation = {
          attemptId,
          tenant: PROGRAM,
          contestId: roundId,
          playerRef,
          metadataJson: '',
          requestId: '',
          keyUse: undefined,
        };
        verdicts.push(
          verdictOf(expectAccepted(await client.createAttempts({ creations: [creation] })).results[0]?.result),
        );
        if (verdicts.length === 100) end().then(ending.resolve, ending.reject);
      }
    }),
  );
  await ending.promise;
  return countsOf(verdicts);
}

type Score = { readonly attemptId: string; readonly score: number; readonly tiebreak?: number };

async function reportEverywhere(scores: readonly Score[]) {
  const items = scores.map(({ attemptId, score, tiebreak }) => ({
    operationId: newId(),
    attemptId,
    tenant: PROGRAM,
    score,
    tiebreak,
    evidenceJson: '',
    requestId: '',
    keyUse: undefined,
  }));
  const answers = await Promise.all(
    inTens(items).map((call, index) => (index % 2 === 0 ? h : other).tournament.reportOutcomes({ reports: call })),
  );
  return answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => result));
}

function inTens<Item>(items: readonly Item[]): readonly Item[][] {
  return Array.from({ length: Math.ceil(items.length / 10) }, (_, index) => items.slice(index * 10, index * 10 + 10));
}

async function tallyOf(roundId: string) {
  return (await findRound(h.database, roundId))?.tally;
}

describe('a cap of 3', () => {
  it.each([
    [40, 1],
    [400, 1],
    [40, 2],
    [400, 2],
  ])('%i concurrent entries through %i refs of one account never exceed a cap of 3', async (count, refs) => {
    const round = await h.openRound({ attemptCap: 3 });
    const player = await h.player();
    const playerRefs = [player.ref, await h.secondRefOf(player)].slice(0, refs);
    const creations = Array.from({ length: count }, (_, index) => ({
      contestId: round.id,
      playerRef: playerRefs[index % refs] ?? '',
    }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 3, attempt_cap_reached: count - 3 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - 3n * FEE);
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 0, scoredAttempts: 0 });
  });
});

describe('400 concurrent entries', () => {
  it('400 concurrent entries never overdraw a wallet', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const player = await h.player(undefined, 5n * FEE + 12n);
    const creations = Array.from({ length: 400 }, () => ({ contestId: round.id, playerRef: player.ref }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 5, insufficient_funds: 395 });
    expect(await h.balance(player.accountId)).toBe(12n);
  });

  it('400 concurrent entries over two replicas never deadlock and count each account once', async () => {
    const rounds = await Promise.all(Array.from({ length: 3 }, () => h.openRound({ attemptCap: 1_000 })));
    const players = await Promise.all(Array.from({ length: 8 }, () => h.player()));
    const creations = Array.from({ length: 400 }, (_, index) => ({
      contestId: rounds[(index * 2) % 3]?.id ?? '',
      playerRef: players[(index * 5) % 8]?.ref ?? '',
    }));
    const results = await createEverywhere(creations);
    expect(countsOf(results.map(verdictOf))).toEqual({ attempt: 400 });
    for (const round of rounds) expect(await tallyOf(round.id)).toMatchObject({ entrants: 8 });
  });
});

describe('entries that race with an end', () => {
  it('an entry that races with the end of entries is either paid for, or refused and not charged', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const player = await h.player();
    const close = () => h.tournament.closeEntries({ tenant: PROGRAM, roundId: round.id }).then(expectAccepted);
    const { attempt: entered = 0, entries_closed: refused = 0 } = await createUntil(close, round.id, player.ref);
    expect(entered).toBeGreaterThanOrEqual(100);
    expect(refused).toBe(200 - entered);
    expect(await h.balance(player.accountId)).toBe(FUNDS - BigInt(entered) * FEE);
  });

  it('an entry that races with the end of its round is either refused or refunded', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const [player, scorer] = [await h.player(), await h.player()];
    recorded(await h.report(created(await h.create(round.id, scorer.ref)).id, 1));
    const close = () => h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }).then(expectAccepted);
    const { attempt: entered = 0, entries_closed: refused = 0 } = await createUntil(close, round.id, player.ref);
    expect(entered).toBeGreaterThanOrEqual(100);
    expect(refused).toBe(200 - entered);
    await h.server.sweepOnce();
    const left = {
      text: `
select distinct a.status, e.account_id from attempts a left join entries e on e.round_id = a.round_id and e.final_rank = 1
where a.round_id = $1 and a.status not in ('refused', 'expired')`,
    };
    expect(await h.database.query(left, [round.id])).toEqual([{ status: 'settled', account_id: scorer.accountId }]);
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 1 });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});

describe('an operator who cancels a round while it is played', () => {
  const cancel = (replica: Pick<Replica, 'tournament'>, roundId: string, operator = 'ada') =>
    replica.tournament.cancelRound({ roundId, reason: `The reason of ${operator}.`, operator });

  it('an entry that races with the cancellation of its round is either refused or refunded', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const [player, scorer] = [await h.player(), await h.player()];
    recorded(await h.report(created(await h.create(round.id, scorer.ref)).id, 1));
    const end = () => cancel(other, round.id).then(expectAccepted);
    const { attempt: entered = 0, entries_closed: refused = 0 } = await createUntil(end, round.id, player.ref);
    expect(entered).toBeGreaterThanOrEqual(100);
    expect(refused).toBe(200 - entered);
    await h.server.sweepOnce();
    const left = {
      text: `select distinct status from attempts where round_id = $1 and status not in ('refused', 'expired')`,
    };
    expect(await h.database.query(left, [round.id])).toEqual([{ status: 'settled' }]);
    for (const { accountId } of [player, scorer]) expect(await h.balance(accountId)).toBe(FUNDS);
  });

  it('every fee is refunded once, even if scores race with the cancellation of the round', async () => {
    const round = await h.openRound();
    const players = await Promise.all(Array.from({ length: 40 }, () => h.player()));
    const creations = players.map(({ ref }) => ({ contestId: round.id, playerRef: ref }));
    const attempts = (await createEverywhere(creations)).map(created);
    const [results] = await Promise.all([
      Promise.all(
        attempts.map(async ({ id }, index) => (await reportEverywhere([{ attemptId: id, score: index }]))[0]),
      ),
      cancel(other, round.id).then(expectAccepted),
    ]);
    await h.server.sweepOnce();
    const { outcome = 0, round_closed: refused = 0 } = countsOf(results.map(verdictOf));
    expect(outcome + refused).toBe(40);
    expect(await tallyOf(round.id)).toEqual({ entrants: outcome, scoredPlayers: outcome, scoredAttempts: outcome });
    for (const { accountId } of players) expect(await refundsOf(accountId)).toEqual([FEE]);
    for (const { accountId } of players) expect(await h.balance(accountId)).toBe(FUNDS);
  });

  it('a cancellation that races with the settlement refunds the whole round or changes nothing', async () => {
    const seen = new Set<string>();
    const TURNS = 14;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const round = await h.openRound();
      const player = await h.player();
      recorded(await h.report(created(await h.create(round.id, player.ref)).id, 1));
      // The first cancellation comes before the close and the last one after the settlement, on any
      // machine. In each turn in between, the cancellation coincides with a different step of the
      // close.
      if (turn === 0) await cancel(other, round.id);
      const closing = h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id });
      for (let step = 0; step < (turn - 1) * 2; step += 1) await h.database.query({ text: 'select 1' });
      if (turn === TURNS - 1) await closing;
      await Promise.all([closing, turn === 0 || cancel(other, round.id)]);
      await h.server.sweepOnce();
      const [row] = await h.database.query<{ status: string; is_annulled: boolean; payouts: number }>(
        {
          text: `select status, exists (select from round_cancellations x where x.round_id = r.id) as is_annulled,
            (select count(*)::int from round_payouts p where p.round_id = r.id) as payouts from rounds r where r.id = $1`,
        },
        [round.id],
      );
      const isCancelled = row?.status === 'cancelled';
      expect(row).toEqual({
        status: isCancelled ? 'cancelled' : 'settled',
        is_annulled: isCancelled,
        payouts: isCancelled ? 0 : 1,
      });
      expect(await h.balance(player.accountId)).toBe(isCancelled ? FUNDS : FUNDS - FEE + 10_000n);
      expect(await refundsOf(player.accountId)).toEqual(isCancelled ? [FEE] : []);
      seen.add(row?.status ?? '');
    }
    expect([...seen].toSorted()).toEqual(['cancelled', 'settled']);
  });

  it('exactly one of several concurrent cancellations of a round takes effect', async () => {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    const operators = Array.from({ length: 10 }, (_, index) => `operator-${index}`);
    const answers = await Promise.all(
      operators.map((operator, index) => cancel(index % 2 === 0 ? h : other, round.id, operator)),
    );
    const { operator = '', reason } = (await roundOf(h, round.id)).cancellation ?? {};
    expect(reason).toBe(`The reason of ${operator}.`);
    const verdicts = answers.map((answer) => ('kind' in answer ? answer.message : 'cancelled'));
    expect(countsOf(verdicts)).toEqual({ cancelled: 1, [`The round was cancelled by ${operator}: ${reason}`]: 9 });
    expect(verdicts[operators.indexOf(operator)]).toBe('cancelled');
    await h.server.sweepOnce();
    expect(await refundsOf(player.accountId)).toEqual([FEE]);
  });

  it('an attempt that ends while its round is cancelled is refunded once', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const player = await h.player();
    const creations = Array.from({ length: 40 }, () => ({ contestId: round.id, playerRef: player.ref }));
    const attempts = (await createEverywhere(creations)).map(created);
    await Promise.all([
      cancel(other, round.id).then(expectAccepted),
      ...attempts.map(async ({ id: attemptId }, index) => {
        if (index % 3 === 0) await h.tournament.voidAttempt({ attemptId, reason: 'a broken game' });
        else if (index % 3 === 1) await other.tournament.expireAttempt({ tenant: PROGRAM, attemptId });
        else await h.tournament.getAttempt({ tenant: PROGRAM, attemptId });
      }),
      h.server.sweepOnce(),
      other.server.sweepOnce(),
    ]);
    await h.server.sweepOnce();
    expect(await refundsOf(player.accountId)).toEqual(attempts.map(() => FEE));
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  /** The amounts of all refunds to the account. */
  async function refundsOf(accountId: string): Promise<readonly bigint[]> {
    const { environment } = PROGRAM;
    const { lines } = expectAccepted(await h.wallet.getStatement({ accountId, environment, limit: 200, cursor: '' }));
    return lines.filter(({ kind }) => kind === 'refund').map(({ amountCents }) => amountCents);
  }
});

describe('concurrent reports', () => {
  it('only one of 40 concurrent reports settles the attempt', async () => {
    const { round, attempt } = await h.openAttempt();
    const results = await reportEverywhere(
      Array.from({ length: 40 }, (_, index) => ({ attemptId: attempt.id, score: index })),
    );
    expect(countsOf(results.map(verdictOf))).toEqual({ outcome: 1, attempt_already_settled: 39 });
    const { score } = recorded(results.find((result) => verdictOf(result) === 'outcome'));
    const best = { text: 'select best_score from entries where round_id = $1' };
    expect(await h.database.query(best, [round.id])).toEqual([{ best_score: score }]);
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 1 });
  });

  it('concurrent reports leave every player with the best run and its own tiebreak', async () => {
    const rounds = await Promise.all(
      Array.from({ length: 2 }, () => h.openRound({ ...BY_SECONDS, attemptCap: 1_000 })),
    );
    const players = await Promise.all(Array.from({ length: 10 }, () => h.player()));
    const creations = Array.from({ length: 400 }, (_, index) => ({
      contestId: rounds[index % 2]?.id ?? '',
      playerRef: players[(index * 3) % 10]?.ref ?? '',
    }));
    const attempts = (await createEverywhere(creations)).map(created);
    const scores = attempts.map((attempt, index) => ({
      attemptId: attempt.id,
      score: (index * 37) % 11,
      tiebreak: (index * 53) % 17,
    }));
    const results = await reportEverywhere(scores);
    expect(countsOf(results.map(verdictOf))).toEqual({ outcome: 400 });

    for (const round of rounds) {
      const entries = await h.database.query<{ ref: string; score: number; tiebreak: number }>(
        {
          text: `
select best_player_ref as ref, best_score as score, best_tiebreak as tiebreak from entries
where round_id = $1 order by best_player_ref`,
        },
        [round.id],
      );
      const best = new Map<string, Score>();
      attempts.forEach((attempt, index) => {
        const run = scores[index];
        const so = best.get(attempt.playerRef);
        if (attempt.contestId !== round.id || run === undefined) return;
        const isBetter =
          so === undefined ||
          run.score > so.score ||
          (run.score === so.score && (run.tiebreak ?? 0) < (so.tiebreak ?? 0));
        if (isBetter) best.set(attempt.playerRef, run);
      });
      const wanted = [...best].map(([ref, { score, tiebreak }]) => ({ ref, score, tiebreak }));
      expect(entries).toEqual(wanted.sort((one, another) => (one.ref < another.ref ? -1 : 1)));
      const scoredAttempts = attempts.filter((attempt) => attempt.contestId === round.id).length;
      expect(await tallyOf(round.id)).toEqual({ entrants: best.size, scoredPlayers: best.size, scoredAttempts });
    }
  });
});

describe('a score and the end of its round', () => {
  it('a score that races with the end of its round is either ranked or refunded', async () => {
    const round = await h.openRound();
    const players = await Promise.all(Array.from({ length: 40 }, () => h.player()));
    const creations = players.map(({ ref }) => ({ contestId: round.id, playerRef: ref }));
    const attempts = (await createEverywhere(creations)).map(created);
    recorded(await h.report(attempts[0]?.id ?? '', 1_000));

    const [results] = await Promise.all([
      Promise.all(
        attempts.slice(1).map(async (attempt, index) => {
          const replica = index % 2 === 0 ? h : other;
          const report = {
            operationId: newId(),
            attemptId: attempt.id,
            tenant: PROGRAM,
            score: index,
            tiebreak: undefined,
            evidenceJson: '',
            requestId: '',
            keyUse: undefined,
          };
          const { results: answers } = expectAccepted(await replica.tournament.reportOutcomes({ reports: [report] }));
          return verdictOf(answers[0]?.result);
        }),
      ),
      h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }).then(expectAccepted),
    ]);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    const counts = countsOf(results);
    const scored = 1 + (counts.outcome ?? 0);
    expect(counts).toEqual({
      ...(scored > 1 && { outcome: scored - 1 }),
      ...(scored < 40 && { round_closed: 40 - scored }),
    });
    expect(await tallyOf(round.id)).toEqual({ entrants: scored, scoredPlayers: scored, scoredAttempts: scored });
    const board = { text: 'select account_id from entries where round_id = $1 and final_rank > 0 order by final_rank' };
    const ranked = (await h.database.query<{ account_id: string }>(board, [round.id])).map((row) => row.account_id);
    const isScored = (index: number) => index === 0 || results[index - 1] === 'outcome';
    const [winner, ...others] = players.filter((_, index) => isScored(index)).map(({ accountId }) => accountId);
    expect(ranked).toEqual([winner, ...others.toReversed()]);
    for (const [index, { accountId }] of players.entries()) {
      const payout = [10_000n, 5_000n, 5_000n][ranked.indexOf(accountId)] ?? 0n;
      expect(await h.balance(accountId)).toBe(isScored(index) ? FUNDS - FEE + payout : FUNDS);
    }
    for (const [index, attempt] of attempts.entries()) {
      const read = expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).attempt;
      expect(read?.status).toBe(isScored(index) ? AttemptStatus.SETTLED : AttemptStatus.EXPIRED);
    }
  });
});

/** The number of entrants, counted again: accounts with an attempt whose fee was not returned. */
async function countEntrants(roundId: string) {
  const [row] = await h.database.query<{ entrants: number }>(
    {
      text: `
select count(distinct account_id)::int as entrants from attempts where round_id = $1 and status in ('open', 'settled')`,
    },
    [roundId],
  );
  return row?.entrants;
}

describe('an account’s last attempt that ends while new attempts start', () => {
  const PLAYERS = 30;

  it.each(['expires', 'is voided'])(
    'the entrants are counted exactly if an account’s last attempt %s while a new attempt opens',
    async (end) => {
      const round = await h.openRound({ attemptCap: 100 });
      const players = await Promise.all(Array.from({ length: PLAYERS }, () => h.player()));
      const endOne = async (attemptId: string) =>
        end === 'expires'
          ? expectAccepted(await other.tournament.expireAttempt({ tenant: PROGRAM, attemptId }))
          : expectAccepted(await other.tournament.voidAttempt({ attemptId, reason: 'a broken game' }));
      let open = await Promise.all(players.map(async ({ ref }) => created(await h.create(round.id, ref))));
      for (let turn = 0; turn < 8; turn += 1) {
        const [again] = await Promise.all([
          Promise.all(players.map(async ({ ref }) => created(await h.create(round.id, ref)))),
          Promise.all(open.map(({ id }) => endOne(id))),
        ]);
        expect(await countEntrants(round.id)).toBe(PLAYERS);
        expect((await tallyOf(round.id))?.entrants).toBe(PLAYERS);
        open = again;
      }
      // Two attempts of one account end at the same time, and none starts.
      const more = await Promise.all(players.map(async ({ ref }) => created(await h.create(round.id, ref))));
      await Promise.all([...open, ...more].map(({ id }) => endOne(id)));
      expect(await tallyOf(round.id)).toEqual({ entrants: 0, scoredPlayers: 0, scoredAttempts: 0 });
    },
  );

  it('the entrants are counted exactly while two replicas end and open attempts of one account', async () => {
    const round = await h.openRound({ attemptCap: 100 }, { lengthMs: 10 * HOUR_MS });
    const players = await Promise.all(Array.from({ length: PLAYERS }, () => h.player()));
    for (let turn = 0; turn < 4; turn += 1) {
      await Promise.all(players.map(async ({ ref }) => created(await h.create(round.id, ref))));
      h.clock.advance(HOUR_MS);
      await Promise.all([
        h.server.sweepOnce(),
        other.server.sweepOnce(),
        // The first player of each pair buys again meanwhile.
        ...players.filter((_, index) => index % 2 === 0).map(async ({ ref }) => created(await h.create(round.id, ref))),
      ]);
      await h.server.sweepOnce();
      expect(await countEntrants(round.id)).toBe(PLAYERS / 2);
      expect((await tallyOf(round.id))?.entrants).toBe(PLAYERS / 2);
    }
  });
});

describe('an attempt at its end', () => {
  it('an attempt that is reported and expired concurrently is either settled or refunded', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const player = await h.player();
    const creations = Array.from({ length: 40 }, () => ({ contestId: round.id, playerRef: player.ref }));
    const attempts = (await createEverywhere(creations)).map(created);
    const raced = await Promise.all(
      attempts.map(async ({ id }, index) => {
        const [report, expiry] = await Promise.all([
          h.report(id, 1),
          (index % 2 === 0 ? h : other).tournament.expireAttempt({ tenant: PROGRAM, attemptId: id }),
        ]);
        return { id, report: verdictOf(report), expiry: 'kind' in expiry ? expiry.code : 'expired' };
      }),
    );
    let expired = 0n;
    for (const { id, report, expiry } of raced) {
      const { attempt } = expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: id }));
      const isExpired = attempt?.status === AttemptStatus.EXPIRED;
      if (isExpired) expired += 1n;
      expect({ report, expiry }).toEqual(
        isExpired
          ? { report: 'attempt_already_settled', expiry: 'expired' }
          : { report: 'outcome', expiry: 'attempt_already_settled' },
      );
    }
    expect(await h.balance(player.accountId)).toBe(FUNDS - 40n * FEE + expired * FEE);
  });

  it('an attempt at its end is refunded once, even if replicas sweep and read at the same time', async () => {
    for (const lengthMs of [2 * HOUR_MS, HOUR_MS / 2]) {
      const round = await h.openRound({ attemptCap: 1_000 }, { lengthMs });
      const player = await h.player();
      const creations = Array.from({ length: 60 }, () => ({ contestId: round.id, playerRef: player.ref }));
      const attempts = (await createEverywhere(creations)).map(created);
      h.clock.advance(Math.min(HOUR_MS, lengthMs));
      await Promise.all([
        h.server.sweepOnce(),
        other.server.sweepOnce(),
        ...attempts.map(({ id }, index) =>
          (index % 2 === 0 ? h : other).tournament.getAttempt({ tenant: PROGRAM, attemptId: id }).then(expectAccepted),
        ),
      ]);
      await h.server.sweepOnce();
      expect(await h.balance(player.accountId)).toBe(FUNDS);
      const statuses = await h.database.query({ text: 'select distinct status from attempts where round_id = $1' }, [
        round.id,
      ]);
      expect(statuses).toEqual([{ status: 'expired' }]);
    }
  });
});
