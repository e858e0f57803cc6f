/** Attempts that end without an outcome: voided, expired by hand, over with their round. */
import { newOwnedId } from '@laurel/ids';
import { AttemptStatus } from '@laurel/proto/tournament';
import { ok } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import {
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  LIVE_PROGRAM,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();

async function read(attemptId: string) {
  return ok(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).attempt;
}

/** An open attempt in a round that lasts half an hour, less than an attempt does. */
async function shortAttempt() {
  const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
  const player = await h.player();
  return { round, player, attempt: created(await h.create(round.id, player.ref)) };
}

describe('an attempt that an operator voids', () => {
  it('is voided and refunded, takes no outcome, and cannot be voided again', async () => {
    const { attempt, player } = await h.openAttempt();
    const voided = ok(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'a broken game' })).attempt;
    expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
    expect(await read(attempt.id)).toEqual(voided);
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'again' })).toMatchObject({
      code: 'conflict',
    });
  });

  it('may have been created a moment ago', async () => {
    const round = await h.openRound({ attemptCap: 100 });
    const player = await h.player();
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const attempt = created(await h.create(round.id, player.ref));
        const voided = ok(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'at once' })).attempt;
        expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
      }),
    );
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('must be open, known, and voided for a reason', async () => {
    const { attempt } = await h.openAttempt();
    const unknown = newOwnedId('tournament');
    expect(await h.tournament.voidAttempt({ attemptId: unknown, reason: 'x' })).toMatchObject({ code: 'not_found' });
    for (const reason of ['', 'x'.repeat(1_001), '\0']) {
      expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason })).toMatchObject({
        code: 'invalid_request',
      });
    }
    recorded(await h.report(attempt.id, 1));
    expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).toMatchObject({ code: 'conflict' });
  });

  it('stays voiding while the wallet is away, shows nothing, and is finished by the next call', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.stopWallet();
    await expect(h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).rejects.toThrow();
    await expect(h.tournament.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    await h.startWallet();
    const voided = ok(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).attempt;
    expect(voided?.status).toBe(AttemptStatus.VOIDED);
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});

describe('a sandbox attempt that is expired by hand', () => {
  it('is expired and refunded as if its hour had passed', async () => {
    const { attempt, player } = await h.openAttempt();
    const { id: attemptId } = attempt;
    const expired = ok(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId })).attempt;
    expect(expired).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({
      code: 'attempt_already_settled',
    });
    expect(await h.tournament.expireAttempt({ tenant: OTHER_PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    await expect(h.tournament.expireAttempt({ tenant: LIVE_PROGRAM, attemptId })).rejects.toThrow();
    expect(verdictOf(await h.report(attemptId, 1))).toBe('attempt_already_settled');
  });
});

describe('an attempt without an outcome at the end of its round', () => {
  it('reads as expired and refunded at that instant, though nobody has closed the round', async () => {
    const { player, attempt } = await shortAttempt();
    h.clock.advance(HOUR_MS / 2 - 1);
    expect(await read(attempt.id)).toEqual(attempt);
    h.clock.advance(1);
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    const reason = { text: 'select closed_reason from attempts where id = $1' };
    expect(await h.database.query(reason, [attempt.id])).toEqual([{ closed_reason: 'round_closed' }]);
  });

  it('is neither to be voided nor to be expired by hand', async () => {
    const [one, another] = [await shortAttempt(), await shortAttempt()];
    h.clock.advance(HOUR_MS / 2);
    expect(await h.tournament.voidAttempt({ attemptId: one.attempt.id, reason: 'x' })).toMatchObject({
      code: 'conflict',
    });
    expect(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: another.attempt.id })).toMatchObject({
      code: 'attempt_already_settled',
    });
    expect(await h.balance(one.player.accountId)).toBe(FUNDS);
    expect(await h.balance(another.player.accountId)).toBe(FUNDS);
  });

  it('is refunded by the sweepers alone, once, and the player stays the entrant of a round that ran', async () => {
    const { round, player, attempt } = await shortAttempt();
    const scored = created(await h.create(round.id, player.ref));
    recorded(await h.report(scored.id, 1));
    h.clock.advance(HOUR_MS / 2);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await read(scored.id)).toMatchObject({ status: AttemptStatus.SETTLED });
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE + 10_000n);
  });

  it('reads as expired while the wallet is away only once its fee is back', async () => {
    const { player, attempt } = await shortAttempt();
    h.clock.advance(HOUR_MS / 2);
    await h.stopWallet();
    await expect(h.tournament.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    await h.startWallet();
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});
