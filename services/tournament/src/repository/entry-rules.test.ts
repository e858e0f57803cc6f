/**
 * The rules of an entry are the same in SQL and in TypeScript: both are compared over generated
 * histories of a round.
 */
import type { AttemptStatus } from '@laurel/attempts/domain';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideAdmission, decideCachedEntries } from '../domain/entry-decision.ts';
import type { Round, Tournament } from '../domain/tournament.ts';
import { insertOptimisticAttempts } from './optimistic-attempts.ts';
import { type Harness, HOUR_MS, playersOf, roundOf, startHarness, TENANT, TERMS } from './repository.fixture.ts';
import { changeRoundStatus, insertRound, loadEntryRounds, moveRoundEnds } from './rounds.ts';
import { insertTournament } from './tournaments.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const FEE_WAS_RETURNED: readonly AttemptStatus[] = ['expiring', 'expired', 'voiding', 'voided', 'refused'];
const STATUSES: readonly AttemptStatus[] = ['pending', 'open', 'settled', ...FEE_WAS_RETURNED];
const CLOSED_WITH_A_REASON: readonly AttemptStatus[] = ['voiding', 'voided', 'refused'];
const MINUTE_MS = 60_000;
const PLAYERS = 2;

const histories = fc.record({
  cap: fc.integer({ min: 1, max: 3 }),
  status: fc.oneof(
    { arbitrary: fc.constant('open' as const), weight: 6 },
    fc.constantFrom('settling' as const, 'cancelling' as const),
  ),
  opensInMs: fc.constantFrom(-HOUR_MS, -HOUR_MS, -HOUR_MS, MINUTE_MS),
  entriesCloseInMs: fc.constantFrom(-MINUTE_MS, HOUR_MS, HOUR_MS, HOUR_MS),
  attempts: fc.array(fc.record({ player: fc.nat(PLAYERS - 1), status: fc.constantFrom(...STATUSES) }), {
    maxLength: 8,
  }),
  change: fc.constantFrom('none', 'none', 'end', 'end of entries', 'status'),
});
type History = typeof histories extends fc.Arbitrary<infer Value> ? Value : never;

const SET_STATUS = {
  text: `
update attempts a set status = s.status, closed_reason = s.closed_reason
from unnest($1::uuid[], $2::text[], $3::text[]) as s (id, status, closed_reason) where a.id = s.id`,
};

/** Writes the history to the database. */
async function write({ cap, status, opensInMs, entriesCloseInMs, attempts }: History, now: Date) {
  const tournament: Tournament = {
    id: newId(),
    tenant: TENANT,
    status: 'active',
    terms: { ...TERMS, attemptCap: cap },
    createdAt: now,
  };
  const opensAt = new Date(now.getTime() + opensInMs);
  const entriesCloseAt = new Date(Math.max(opensAt.getTime(), now.getTime() + entriesCloseInMs));
  const closesAt = new Date(now.getTime() + 2 * HOUR_MS);
  const round = roundOf(tournament, { status, opensAt, entriesCloseAt, closesAt });
  await insertTournament(harness.database, tournament);
  expect(await insertRound(harness.database, round)).toBe(true);
  const players = playersOf(PLAYERS);
  const begun = await harness.begin(
    round,
    attempts.flatMap(({ player }) => players[player] ?? []),
  );
  await harness.database.query(SET_STATUS, [
    begun.map(({ id }) => id),
    attempts.map((attempt) => attempt.status),
    attempts.map((attempt) => (CLOSED_WITH_A_REASON.includes(attempt.status) ? 'a test' : null)),
  ]);
  return { round, players };
}

/** Applies the change to an open round, and returns the round after it. */
async function apply(change: History['change'], round: Round): Promise<Round> {
  if (round.status !== 'open' || change === 'none') return round;
  if (change === 'status') {
    expect(await changeRoundStatus(harness.database, round.id, 'open', 'settling')).toBe(true);
    return { ...round, status: 'settling' };
  }
  const sooner = (date: Date, notBefore: Date) => new Date(Math.max(date.getTime() - 1, notBefore.getTime()));
  const changed =
    change === 'end'
      ? { ...round, closesAt: sooner(round.closesAt, round.entriesCloseAt) }
      : { ...round, entriesCloseAt: sooner(round.entriesCloseAt, round.opensAt) };
  await moveRoundEnds(harness.database, changed);
  return changed;
}

describe('the rules of an entry in SQL', () => {
  it('the entry rules in SQL admit an attempt exactly if the decision in TypeScript does', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const now = new Date();
        const { round, players } = await write(history, now);
        const cached = (await loadEntryRounds(harness.database, [round.id])).get(round.id);
        if (cached === undefined) throw new Error('the round is not there');
        const current = await apply(history.change, round);

        const creations = players.map(({ accountId, playerRef }) => ({
          creation: {
            attemptId: newOwnedId('tournament'),
            tenant: TENANT,
            roundId: round.id,
            playerRef,
            metadata: '{}',
            idempotencyUse: null,
          },
          account: { accountId, isFresh: false },
          round: cached,
        }));
        const accepted = decideCachedEntries(creations, now).flatMap((decision) =>
          decision === null ? [] : [{ attempt: decision.attempt, round: cached, idempotencyUse: null }],
        );
        const written = await insertOptimisticAttempts(harness.database, accepted, { now });

        const hasChanged = current.status !== cached.status || +current.entriesCloseAt !== +cached.entriesCloseAt;
        const expected = players.map((_, index) => {
          const bought = history.attempts.filter(
            (one) => one.player === index && !FEE_WAS_RETURNED.includes(one.status),
          ).length;
          const decision = decideAdmission({ tenant: TENANT, round: current, bought, now });
          const verdict = decision.kind === 'refused' ? decision.code : decision.kind;
          seen.add(hasChanged ? 'changed' : verdict);
          return verdict === 'admitted' && !hasChanged;
        });
        expect(creations.map(({ creation }) => written.has(creation.attemptId))).toEqual(expected);
      }),
      { numRuns: 150 },
    );
    expect([...seen].toSorted()).toEqual(['admitted', 'attempt_cap_reached', 'changed', 'entries_closed']);
  });
});
