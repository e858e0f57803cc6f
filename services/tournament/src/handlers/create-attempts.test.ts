/** Entries into a round: what is charged, what is counted, and which players are refused. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { entriesCloseAt } from '../domain/round-status.ts';
import { findEntryOfRef } from '../repository/entries.ts';
import { findRound, moveRoundEnds } from '../repository/rounds.ts';
import {
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  LIVE_PROGRAM,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  TEN_MINUTES_MS,
  useHarness,
  useReplica,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();
const other = useReplica(h);

async function tallyOf(roundId: string) {
  return (await findRound(h.database, roundId))?.tally;
}

/** The rows that a refused creation may leave: none, or a row that is never shown. */
async function rowsOf(roundId: string) {
  const [entered, attempted] = await Promise.all([
    h.database.query<{ count: number }>(
      { text: 'select count(*)::int as count from entries where round_id = $1 and bought_at is not null' },
      [roundId],
    ),
    h.database.query<{ count: number }>(
      { text: `select count(*)::int as count from attempts where round_id = $1 and status <> 'refused'` },
      [roundId],
    ),
  ]);
  return { entered: entered[0]?.count, attempted: attempted[0]?.count };
}

describe('an entry', () => {
  it('an entry charges its fee once and makes its account an entrant', async () => {
    const round = await h.openRound();
    const player = await h.player();
    const attemptId = newOwnedId('tournament');
    const attempt = created(await h.create(round.id, player.ref, attemptId));
    expect(attempt).toEqual({
      id: attemptId,
      contestId: round.id,
      playerRef: player.ref,
      status: AttemptStatus.OPEN,
      feeCents: FEE,
      createdAt: h.clock(),
      metadataJson: '{"a":1}',
      outcome: undefined,
    });
    // The response waited for the write, so none is outstanding.
    expect(await tallyOf(round.id)).toEqual({ entrants: 1, scoredPlayers: 0, scoredAttempts: 0 });
    expect(await findEntryOfRef(h.database, round.id, player.ref)).toMatchObject({
      accountId: player.accountId,
      boughtAt: h.clock(),
      best: null,
      sortKey: null,
    });
    expect(created(await h.create(round.id, player.ref, attemptId))).toEqual(attempt);
    expect(expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).attempt).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('a player can buy further attempts at the same price up to the cap', async () => {
    const round = await h.openRound({ attemptCap: 3 });
    const player = await h.player();
    for (let bought = 0; bought < 3; bought += 1) created(await h.create(round.id, player.ref));
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('attempt_cap_reached');
    expect(await tallyOf(round.id)).toMatchObject({ entrants: 1 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - 3n * FEE);
    // The cap is per player.
    created(await h.create(round.id, (await h.player()).ref));
    expect(await tallyOf(round.id)).toMatchObject({ entrants: 2 });
  });

  it('two refs of one account share the entry and its cap', async () => {
    const round = await h.openRound({ attemptCap: 2 });
    const player = await h.player();
    const second = await h.secondRefOf(player);
    created(await h.create(round.id, player.ref));
    expect(created(await h.create(round.id, second)).playerRef).toBe(second);
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('attempt_cap_reached');
    expect(verdictOf(await h.create(round.id, second))).toBe('attempt_cap_reached');
    expect(await tallyOf(round.id)).toMatchObject({ entrants: 1 });
    const [first, again] = await Promise.all(
      [player.ref, second].map((ref) => findEntryOfRef(h.database, round.id, ref)),
    );
    expect(first).toEqual(again);
  });

  it.each(['voided', 'expired'])(
    'an attempt that is %s no longer counts towards the cap, and the next one makes the player an entrant again',
    async (how) => {
      const round = await h.openRound({ attemptCap: 1 });
      const player = await h.player();
      const { id: attemptId } = created(await h.create(round.id, player.ref));
      if (how === 'voided') expectAccepted(await h.tournament.voidAttempt({ attemptId, reason: 'a broken game' }));
      else expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId }));
      expect(verdictOf(await h.report(attemptId, 1))).toBe('attempt_already_settled');
      expect(await h.balance(player.accountId)).toBe(FUNDS);
      expect(await tallyOf(round.id)).toMatchObject({ entrants: 0 });
      created(await h.create(round.id, player.ref));
      expect(verdictOf(await h.create(round.id, player.ref))).toBe('attempt_cap_reached');
      expect(await tallyOf(round.id)).toMatchObject({ entrants: 1 });
      expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
    },
  );

  it('an entry counts for one round only', async () => {
    const one = await h.openRound({ attemptCap: 1 });
    const another = await h.openRound({ attemptCap: 1 });
    const player = await h.player();
    created(await h.create(one.id, player.ref));
    created(await h.create(another.id, player.ref));
    expect(await tallyOf(another.id)).toMatchObject({ entrants: 1 });
  });

  it('every attempt of an entry is charged, and a repeated creation returns the attempt as created', async () => {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 10));
    h.clock.advance(1);
    const again = created(await h.create(round.id, player.ref));
    expect(again).toMatchObject({ status: AttemptStatus.OPEN, feeCents: FEE, createdAt: h.clock() });
    expect(created(await h.create(round.id, player.ref, attempt.id))).toEqual(attempt);
  });
});

describe('entries', () => {
  it('entries open with the round and close ten minutes before its end', async () => {
    const round = await h.openRound({}, { opensInMs: HOUR_MS, lengthMs: HOUR_MS });
    const [first, second] = [await h.player(), await h.player()];
    expect(verdictOf(await h.create(round.id, first.ref))).toBe('entries_closed');
    h.clock.advance(HOUR_MS - 1);
    expect(verdictOf(await h.create(round.id, first.ref))).toBe('entries_closed');
    h.clock.advance(1);
    created(await h.create(round.id, first.ref));
    h.clock.advance(HOUR_MS - TEN_MINUTES_MS - 1);
    const last = created(await h.create(round.id, first.ref));
    h.clock.advance(1);
    expect(verdictOf(await h.create(round.id, first.ref))).toBe('entries_closed');
    expect(verdictOf(await h.create(round.id, second.ref))).toBe('entries_closed');
    // A repeated creation still returns the attempt, and the attempt can still be played.
    expect(created(await h.create(round.id, first.ref, last.id))).toEqual(last);
    expect(recorded(await h.report(last.id, 1)).score).toBe(1);
    expect(await h.balance(second.accountId)).toBe(FUNDS);
  });

  it('entries are never open in a round of ten minutes or less', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS });
    const { opensAt } = round;
    const closesAt = new Date(opensAt.getTime() + TEN_MINUTES_MS);
    await moveRoundEnds(h.database, { id: round.id, entriesCloseAt: entriesCloseAt({ opensAt, closesAt }), closesAt });
    const player = await h.player();
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('entries_closed');
  });
});

describe('a creation that is refused', () => {
  it('a creation is refused for the first reason in the order of the contract', async () => {
    const unlinked = `unlinked-${newId()}`;
    const poor = await h.player(undefined, FEE - 1n);
    const gone = await h.openRound({}, { lengthMs: HOUR_MS });
    expect(verdictOf(await h.create(newId(), unlinked))).toBe('not_found');
    expect(verdictOf(await h.create(gone.id, unlinked, newOwnedId('tournament'), OTHER_PROGRAM))).toBe('not_found');
    expect(verdictOf(await h.create(gone.id, unlinked, newOwnedId('tournament'), LIVE_PROGRAM))).toBe('not_found');
    h.clock.advance(HOUR_MS - TEN_MINUTES_MS);
    expect(verdictOf(await h.create(gone.id, unlinked))).toBe('entries_closed');
    expect(verdictOf(await h.create(gone.id, poor.ref))).toBe('entries_closed');

    const round = await h.openRound({ attemptCap: 1 });
    const player = await h.player(undefined, FEE);
    created(await h.create(round.id, player.ref));
    await h.block(player.accountId);
    // The player is at the cap, excluded and without funds.
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('attempt_cap_reached');
    const next = await h.openRound();
    expect(verdictOf(await h.create(next.id, player.ref))).toBe('blocked');
    expect(verdictOf(await h.create(next.id, poor.ref))).toBe('insufficient_funds');
    expect(verdictOf(await h.create(next.id, unlinked))).toBe('insufficient_funds');
  });

  it('a refused creation charges nothing and does not count towards the cap', async () => {
    const round = await h.openRound({ attemptCap: 1 });
    const poor = await h.player(undefined, FEE - 1n);
    const blocked = await h.player();
    await h.block(blocked.accountId);
    const attemptId = newOwnedId('tournament');
    expect(verdictOf(await h.create(round.id, poor.ref, attemptId))).toBe('insufficient_funds');
    expect(verdictOf(await h.create(round.id, blocked.ref))).toBe('blocked');
    expect(verdictOf(await h.create(round.id, 'unlinked'))).toBe('insufficient_funds');
    await h.server.sweepOnce();
    expect(await rowsOf(round.id)).toEqual({ entered: 0, attempted: 0 });
    expect(await tallyOf(round.id)).toEqual({ entrants: 0, scoredPlayers: 0, scoredAttempts: 0 });
    expect(await h.balance(poor.accountId)).toBe(FEE - 1n);
    expect(await h.balance(blocked.accountId)).toBe(FUNDS);

    // A repeat gets the same result; a new attempt is decided again.
    expectAccepted(
      await h.wallet.deposit({ accountId: poor.accountId, environment: 1, amountCents: 1n, reference: 'late' }),
    );
    expect(verdictOf(await h.create(round.id, poor.ref, attemptId))).toBe('insufficient_funds');
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.report(attemptId, 1))).toBe('not_found');
    created(await h.create(round.id, poor.ref));
    expect(await h.balance(poor.accountId)).toBe(0n);
  });

  it('a creation of an insider is refused in live only', async () => {
    const live = await h.openRound({}, { tenant: LIVE_PROGRAM });
    const sandbox = await h.openRound();
    const insider = await h.player(undefined, FUNDS, LIVE_PROGRAM);
    const outsider = await h.player(undefined, FUNDS, LIVE_PROGRAM);
    expectAccepted(await h.wallet.addInsider({ programId: PROGRAM.programId, accountId: insider.accountId }));
    const tester = await h.player(insider.ref, FEE);
    expectAccepted(await h.wallet.addInsider({ programId: PROGRAM.programId, accountId: tester.accountId }));

    expect(verdictOf(await h.create(live.id, insider.ref, newOwnedId('tournament'), LIVE_PROGRAM))).toBe(
      'insider_entry',
    );
    created(await h.create(live.id, outsider.ref, newOwnedId('tournament'), LIVE_PROGRAM));
    created(await h.create(sandbox.id, insider.ref));
    expect(await h.balance(insider.accountId, Environment.LIVE)).toBe(FUNDS);
    expect(await h.balance(tester.accountId)).toBe(0n);
    expect(await h.balance(outsider.accountId, Environment.LIVE)).toBe(FUNDS - FEE);
    expect(await tallyOf(live.id)).toMatchObject({ entrants: 1 });
  });
});

describe('an attempt id that was seen before', () => {
  it('a known attempt id is not found under another round or tenant', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const another = await h.openRound();
    expect(verdictOf(await h.create(another.id, player.ref, attempt.id))).toBe('not_found');
    expect(verdictOf(await h.create(round.id, player.ref, attempt.id, OTHER_PROGRAM))).toBe('not_found');
  });

  it('a creation that is sent several times at once makes one attempt and one charge', async () => {
    const round = await h.openRound();
    const player = await h.player();
    const creation = {
      attemptId: newOwnedId('tournament'),
      tenant: PROGRAM,
      contestId: round.id,
      playerRef: player.ref,
      metadataJson: '{}',
      requestId: '',
      keyUse: undefined,
    };
    const answers = await Promise.all(
      [h.tournament, other.tournament, h.tournament, other.tournament].map((client) =>
        client.createAttempts({ creations: [creation, creation, creation] }),
      ),
    );
    const attempts = answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => created(result)));
    expect(attempts).toHaveLength(12);
    for (const attempt of attempts) expect(attempt).toEqual(attempts[0]);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
    expect(await tallyOf(round.id)).toMatchObject({ entrants: 1 });
  });
});
