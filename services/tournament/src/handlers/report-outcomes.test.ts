/** What a reported score does to the attempt, to the entry's best run, and to the board. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { expectAccepted, verdictOnReceipt } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { findEntryOfRef } from '../repository/entries.ts';
import { findReceipt } from '../repository/outcomes.ts';
import { findRound } from '../repository/rounds.ts';
import {
  BY_SECONDS,
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  SIGNER,
  useHarness,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();

async function read(attemptId: string) {
  return expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).attempt;
}

async function bestOf(roundId: string, playerRef: string) {
  return (await findEntryOfRef(h.database, roundId, playerRef))?.best;
}

async function tallyOf(roundId: string) {
  return (await findRound(h.database, roundId))?.tally;
}

async function receiptOf(receiptId: string) {
  const found = await findReceipt(h.database, receiptId);
  if (found === null) throw new Error(`there is no receipt ${receiptId}`);
  const { receipt: canonical, signature, publicKey } = found;
  expect((await verdictOnReceipt({ canonical, signature, publicKey })).kind).toBe('valid');
  return JSON.parse(canonical);
}

describe('a score', () => {
  it('a score settles its attempt, and later reads show the same outcome', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const operationId = newId();
    h.clock.advance(1_000);
    const outcome = recorded(await h.report(attempt.id, 12.5, { operationId }));
    expect(outcome).toEqual({
      attemptId: attempt.id,
      score: 12.5,
      // A round has no bar, and pays by rank.
      metThreshold: false,
      thresholdApplied: undefined,
      recordedAt: h.clock(),
      receiptId: outcome.receiptId,
      award: undefined,
    });
    h.clock.advance(1_000);
    expect(recorded(await h.report(attempt.id, 12.5, { operationId }))).toEqual(outcome);
    expect(verdictOf(await h.report(attempt.id, 12.5))).toBe('attempt_already_settled');
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.SETTLED, outcome });
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 1 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('a score may be negative or a fraction, and -0 counts as 0', async () => {
    const { round, player, attempt } = await h.openAttempt({ attemptCap: 10 });
    expect(recorded(await h.report(attempt.id, -0.001)).score).toBe(-0.001);
    expect(await bestOf(round.id, player.ref)).toMatchObject({ score: -0.001 });
    const zero = created(await h.create(round.id, player.ref));
    const outcome = recorded(await h.report(zero.id, -0));
    expect(Object.is(outcome.score, 0)).toBe(true);
    expect(await receiptOf(outcome.receiptId)).toMatchObject({ score: 0 });
    expect(Object.is((await bestOf(round.id, player.ref))?.score, 0)).toBe(true);
    const tiny = created(await h.create(round.id, player.ref));
    expect(recorded(await h.report(tiny.id, Number.MIN_VALUE)).score).toBe(Number.MIN_VALUE);
    expect(await bestOf(round.id, player.ref)).toMatchObject({ score: Number.MIN_VALUE, attemptId: tiny.id });
    for (const score of [0.1, -12.75, 1e-300, 1e21, Number.MAX_VALUE]) {
      const { id } = created(await h.create(round.id, player.ref));
      expect(recorded(await h.report(id, score)).score).toBe(score);
      expect((await read(id))?.outcome?.score).toBe(score);
    }
    expect(await bestOf(round.id, player.ref)).toMatchObject({ score: Number.MAX_VALUE });
    const huge = created(await h.create(round.id, player.ref));
    expect(recorded(await h.report(huge.id, -Number.MAX_VALUE)).score).toBe(-Number.MAX_VALUE);
    expect(await bestOf(round.id, player.ref)).toMatchObject({ score: Number.MAX_VALUE });
  });

  it('a score for an attempt of another tenant is refused as not_found', async () => {
    const { attempt } = await h.openAttempt();
    expect(verdictOf(await h.report(attempt.id, 1, { tenant: OTHER_PROGRAM }))).toBe('not_found');
    expect(verdictOf(await h.report(newOwnedId('tournament'), 1))).toBe('not_found');
    expect(await h.tournament.getAttempt({ tenant: OTHER_PROGRAM, attemptId: attempt.id })).toMatchObject({
      code: 'not_found',
    });
    expect(await read(attempt.id)).toEqual(attempt);
  });

  it('a score leaves a receipt that anyone can verify, with the evidence as sent', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const evidence = '{"z":[1,{"b":null}],"a":"é\\u0000"}';
    const outcome = recorded(await h.report(attempt.id, 99.5, { tiebreak: 7, evidence }));
    expect(await receiptOf(outcome.receiptId)).toEqual({
      version: 1,
      receipt_id: outcome.receiptId,
      program_id: PROGRAM.programId,
      environment: 'test',
      tournament_id: round.tournamentId,
      tournament_round_id: round.id,
      attempt_id: attempt.id,
      attempt_created_at: attempt.createdAt?.toISOString(),
      player_ref: player.ref,
      fee_charged: '5.00',
      score: 99.5,
      metric_name: 'distance',
      metric_unit: 'm',
      threshold_direction: 'higher_is_better',
      // The tiebreak is reported but not declared, so it is recorded and ignored.
      tiebreak: 7,
      tiebreak_metric_name: null,
      tiebreak_direction: null,
      threshold_applied: null,
      met_threshold: false,
      award: null,
      recorded_at: outcome.recordedAt?.toISOString(),
      evidence: { z: [1, { b: null }], a: 'é\u0000' },
      evidence_text: evidence,
      key_id: SIGNER.keyId,
    });
    expect(await bestOf(round.id, player.ref)).toMatchObject({ score: 99.5, tiebreak: null });
  });
});

describe('a tournament that declares a tiebreak', () => {
  it('a tournament with a tiebreak refuses a score without one', async () => {
    const { round, attempt } = await h.openAttempt(BY_SECONDS);
    expect(verdictOf(await h.report(attempt.id, 10))).toBe('tiebreak_required');
    expect(await read(attempt.id)).toEqual(attempt);
    expect(await tallyOf(round.id)).toMatchObject({ scoredAttempts: 0 });
    const outcome = recorded(await h.report(attempt.id, 10, { tiebreak: -0 }));
    expect(Object.is((await receiptOf(outcome.receiptId)).tiebreak, 0)).toBe(true);
  });

  it('a late report without a tiebreak is refused because it is late', async () => {
    const { attempt: late } = await h.openAttempt(BY_SECONDS);
    h.clock.advance(HOUR_MS);
    expect(verdictOf(await h.report(late.id, 10))).toBe('attempt_already_settled');
    const round = await h.openRound(BY_SECONDS, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const attempt = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS / 2);
    expect(verdictOf(await h.report(attempt.id, 10))).toBe('round_closed');
    await h.server.sweepOnce();
  });
});

describe('the best run of an entry', () => {
  it('the best run of an entry keeps the tiebreak that was reported with its score', async () => {
    const { round, player, attempt } = await h.openAttempt({ ...BY_SECONDS, attemptCap: 10 });
    const run = async (score: number, tiebreak: number, attemptId?: string) => {
      h.clock.advance(1);
      const id = attemptId ?? created(await h.create(round.id, player.ref)).id;
      recorded(await h.report(id, score, { tiebreak }));
      return { attemptId: id, playerRef: player.ref, score, tiebreak, at: h.clock() };
    };
    const first = await run(10, 50, attempt.id);
    expect(await bestOf(round.id, player.ref)).toEqual(first);
    await run(9, 1);
    expect(await bestOf(round.id, player.ref)).toEqual(first);
    await run(10, 60);
    expect(await bestOf(round.id, player.ref)).toEqual(first);
    // This run is equal except for its time, so the earlier run stays the best.
    await run(10, 50);
    expect(await bestOf(round.id, player.ref)).toEqual(first);
    const quicker = await run(10, 49);
    expect(await bestOf(round.id, player.ref)).toEqual(quicker);
    const farther = await run(11, 1_000);
    expect(await bestOf(round.id, player.ref)).toEqual(farther);
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 6 });
  });

  it('the best run of an entry follows the directions of the score and of the tiebreak', async () => {
    const { round, player, attempt } = await h.openAttempt({
      direction: 'lower_is_better',
      tiebreak: { metricName: 'stars', direction: 'higher_is_better' },
      attemptCap: 10,
    });
    const second = created(await h.create(round.id, player.ref));
    const third = created(await h.create(round.id, player.ref));
    recorded(await h.report(attempt.id, -1, { tiebreak: 3 }));
    recorded(await h.report(second.id, 0, { tiebreak: 100 }));
    expect(await bestOf(round.id, player.ref)).toMatchObject({ attemptId: attempt.id });
    recorded(await h.report(third.id, -1, { tiebreak: 4 }));
    expect(await bestOf(round.id, player.ref)).toMatchObject({ attemptId: third.id, score: -1, tiebreak: 4 });
  });

  it('the best run of an entry shows the player_ref that played it', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const second = await h.secondRefOf(player);
    const better = created(await h.create(round.id, second));
    recorded(await h.report(attempt.id, 1));
    expect(await bestOf(round.id, second)).toMatchObject({ playerRef: player.ref });
    recorded(await h.report(better.id, 2));
    expect(await bestOf(round.id, player.ref)).toMatchObject({ playerRef: second, attemptId: better.id });
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 2 });
  });

  it('the best run of an entry can be one of several runs of one call', async () => {
    const { round, player, attempt } = await h.openAttempt({ ...BY_SECONDS, attemptCap: 10 });
    const ids = [attempt.id];
    while (ids.length < 6) ids.push(created(await h.create(round.id, player.ref)).id);
    const runs = [
      [5, 5],
      [7, 9],
      [6, 1],
      [7, 8],
      [7, 8],
      [7, 9],
    ] as const;
    const reports = runs.map(([score, tiebreak], index) => ({
      operationId: newId(),
      attemptId: ids[index] ?? '',
      tenant: PROGRAM,
      score,
      tiebreak,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    }));
    // The last report is sent twice in the same call: under one operation id, and under another.
    const [last] = reports.slice(-1);
    if (last === undefined) throw new Error('no reports');
    const all = [...reports, last, { ...last, operationId: newId() }];
    const { results } = expectAccepted(await h.tournament.reportOutcomes({ reports: all }));
    expect(results.map(({ result }) => verdictOf(result))).toEqual([
      ...Array.from({ length: 7 }, () => 'outcome'),
      'attempt_already_settled',
    ]);
    expect(recorded(results[6]?.result)).toEqual(recorded(results[5]?.result));
    expect(await bestOf(round.id, player.ref)).toMatchObject({ attemptId: ids[3], score: 7, tiebreak: 8 });
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 1, scoredAttempts: 6 });
  });
});

describe('a score that is too late', () => {
  it('a score at the deadline is refused, and the fee is refunded', async () => {
    const { player, attempt } = await h.openAttempt();
    h.clock.advance(HOUR_MS);
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('attempt_already_settled');
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('attempt_already_settled');
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a score is accepted just before the deadline, and just before the end of the round', async () => {
    const { attempt } = await h.openAttempt();
    h.clock.advance(HOUR_MS - 1);
    recorded(await h.report(attempt.id, 1));
    const short = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const justInTime = created(await h.create(short.id, player.ref));
    h.clock.advance(HOUR_MS / 2 - 1);
    recorded(await h.report(justInTime.id, 2));
    expect(await tallyOf(short.id)).toMatchObject({ scoredAttempts: 1 });
  });

  it('a score at the end of its round is refused with round_closed, and the fee is refunded', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const attempt = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS / 2);
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('round_closed');
    const due = { text: 'select reason from refunds_due where attempt_id = $1' };
    expect(await h.database.query(due, [attempt.id])).toEqual([{ reason: 'round_closed' }]);
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    // The refusal is the same after the attempt's deadline, and for another operation.
    h.clock.advance(HOUR_MS);
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('round_closed');
    expect(await tallyOf(round.id)).toMatchObject({ scoredAttempts: 0 });
  });

  it('a score for a voided attempt is refused', async () => {
    const { player, attempt } = await h.openAttempt();
    expectAccepted(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'a broken game' }));
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('attempt_already_settled');
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a recorded score keeps its outcome after the round', async () => {
    const { round, attempt } = await h.openAttempt();
    const operationId = newId();
    const outcome = recorded(await h.report(attempt.id, 1, { operationId }));
    h.clock.advance(round.closesAt.getTime() - h.clock().getTime());
    expect(recorded(await h.report(attempt.id, 1, { operationId }))).toEqual(outcome);
    expect(verdictOf(await h.report(attempt.id, 1))).toBe('attempt_already_settled');
  });
});

describe('a number that is not finite', () => {
  it('a number that is not finite is an error of the caller', async () => {
    const { attempt } = await h.openAttempt(BY_SECONDS);
    expect(verdictOf(await h.report(attempt.id, Number.NaN, { tiebreak: 1 }))).toBe('failure');
    expect(verdictOf(await h.report(attempt.id, 1, { tiebreak: Number.POSITIVE_INFINITY }))).toBe('failure');
    expect(await read(attempt.id)).toEqual(attempt);
  });
});
