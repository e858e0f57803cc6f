/** Compares the creation rules in SQL with the rules in TypeScript, over generated histories. */
import type { AttemptStatus } from '@laurel/attempts/domain';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Challenge } from '../domain/challenge.ts';
import { decideCachedCreations } from '../domain/creation-decision.ts';
import { CEILINGS, LIVE_CHALLENGE, NOW, TERMS } from '../domain/example.ts';
import { decideAvailability, type PlayerFacts } from '../domain/player-availability.ts';
import { insertChallenge, loadChallenges } from './challenges.ts';
import { insertOptimisticAttempts } from './optimistic-attempts.ts';
import { loadFactsOfAccount, loadPlayerFacts } from './player-facts.ts';

const TENANT = { programId: newId(), environment: 'test' } as const;
const DAY_MS = 24 * 60 * 60 * 1000;
const held = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.url, maxConnections: 4, applicationName: 'creation-rules-test' }));
});
afterAll(() => held.disposeAsync());

const FEE_WAS_RETURNED: readonly AttemptStatus[] = ['expiring', 'expired', 'voiding', 'voided', 'refused'];
const FREE: readonly AttemptStatus[] = ['open', 'settled', 'expired', 'voided'];
const CLOSED_WITH_A_REASON: readonly AttemptStatus[] = ['voiding', 'voided', 'refused'];

type PastAttempt = {
  readonly rung: number;
  readonly player: number;
  readonly ageMs: number;
  readonly status: AttemptStatus;
  readonly isFree: boolean;
};
type History = {
  readonly ladder: readonly {
    readonly cap: number;
    readonly status: 'live' | 'suspended' | 'closed';
    readonly isRung: boolean;
    readonly isAboveCeiling: boolean;
  }[];
  readonly attempts: readonly PastAttempt[];
  readonly claims: readonly { readonly rung: number; readonly player: number }[];
};

const RUNGS = 3;
const PLAYERS = 2;
const rung = fc.nat(RUNGS - 1);
const player = fc.nat(PLAYERS - 1);
const ageMs = fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1, DAY_MS, DAY_MS + 1, 2 * DAY_MS);
const paid: fc.Arbitrary<PastAttempt> = fc.record({
  rung,
  player,
  ageMs,
  status: fc.constantFrom<AttemptStatus[]>('pending', 'open', 'settled', ...FEE_WAS_RETURNED),
  isFree: fc.constant(false),
});
const free: fc.Arbitrary<PastAttempt> = fc.record({
  rung,
  player,
  ageMs,
  status: fc.constantFrom(...FREE),
  isFree: fc.constant(true),
});
const histories: fc.Arbitrary<History> = fc.record({
  ladder: fc.array(
    fc.record({
      cap: fc.integer({ min: 1, max: 3 }),
      status: fc.oneof(
        { arbitrary: fc.constant('live' as const), weight: 6 },
        fc.constantFrom('suspended' as const, 'closed' as const),
      ),
      isRung: fc.boolean(),
      isAboveCeiling: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
    }),
    { minLength: RUNGS, maxLength: RUNGS },
  ),
  attempts: fc.array(fc.oneof({ arbitrary: paid, weight: 4 }, free), { maxLength: 14 }),
  claims: fc.uniqueArray(fc.record({ rung, player }), {
    maxLength: RUNGS * PLAYERS,
    selector: (claim) => `${claim.rung}:${claim.player}`,
  }),
});

/**
 * Writes the history to the database. A challenge without a parent is the first rung of a new
 * ladder.
 */
async function write(history: History) {
  const accounts = Array.from({ length: PLAYERS }, () => newId());
  const challenges: Challenge[] = [];
  for (const { cap, status, isRung, isAboveCeiling } of history.ladder) {
    const parent = isRung ? challenges.at(-1) : undefined;
    const challenge: Challenge = {
      ...LIVE_CHALLENGE,
      id: newId(),
      tenant: TENANT,
      status,
      rung: parent === undefined ? 1 : parent.rung + 1,
      terms: {
        ...TERMS,
        dailyAttemptCap: cap,
        prizeCents: cents(isAboveCeiling ? 2_501n : 2_500n),
        parentChallengeId: parent?.id ?? null,
      },
    };
    await insertChallenge(database, challenge);
    challenges.push(challenge);
  }
  const claimed = history.claims.map((claim) => ({ ...claim, ageMs: 9 * DAY_MS, status: 'settled', isFree: false }));
  const attempts = [...history.attempts, ...claimed].map((attempt) => ({ ...attempt, id: newOwnedId('challenge') }));
  await database.query(INSERT_ATTEMPTS, [
    attempts.map(({ id }) => id),
    attempts.map((attempt) => challenges[attempt.rung]?.id),
    attempts.map((attempt) => accounts[attempt.player]),
    attempts.map(({ status }) => status),
    attempts.map(({ isFree }) => isFree),
    attempts.map((attempt) => new Date(NOW.getTime() - attempt.ageMs)),
    attempts.map(({ status }) => (CLOSED_WITH_A_REASON.some((closed) => closed === status) ? 'a test' : null)),
  ]);
  const winning = attempts.slice(history.attempts.length);
  await database.query(INSERT_AWARDS, [
    winning.map(() => newId()),
    winning.map(({ id }) => id),
    winning.map((attempt) => challenges[attempt.rung]?.id),
    winning.map((attempt) => accounts[attempt.player]),
  ]);
  return { challenges, accounts };
}

const INSERT_ATTEMPTS = {
  text: `
insert into attempts
  (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at, closed_reason)
select id, challenge_id, account_id, 'player', status, case when is_free then 0 else 100 end, case when is_free then 0 else 2000 end,
  case when is_free then null else 100 end, '{}', created_at, closed_reason
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bool[], $6::timestamptz[], $7::text[])
  as a (id, challenge_id, account_id, status, is_free, created_at, closed_reason)`,
};

const INSERT_AWARDS = {
  text: `
insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at)
select w.*, 2000, 'denied', '2020-01-01' from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as w`,
};

/** Counts the player's facts in the history, without the code under test. */
function factsIn(history: History, rungIndex: number, playerIndex: number): PlayerFacts {
  const hasClaimed = (index: number) =>
    history.claims.some((claim) => claim.rung === index && claim.player === playerIndex);
  return {
    claimed: hasClaimed(rungIndex),
    parentClaimed: rungIndex === 0 || !history.ladder[rungIndex]?.isRung || hasClaimed(rungIndex - 1),
    paidInWindow: history.attempts.filter(
      (attempt) =>
        attempt.rung === rungIndex &&
        attempt.player === playerIndex &&
        !attempt.isFree &&
        attempt.ageMs < DAY_MS &&
        !FEE_WAS_RETURNED.includes(attempt.status),
    ).length,
  };
}

/** Returns every player of every challenge, with the player's facts in the history. */
function everyPlayer(history: History, { challenges, accounts }: Awaited<ReturnType<typeof write>>) {
  return challenges.flatMap((challenge, rungIndex) =>
    accounts.map((accountId, playerIndex) => ({
      challenge,
      accountId,
      attemptId: newOwnedId('challenge'),
      facts: factsIn(history, rungIndex, playerIndex),
    })),
  );
}

describe('the creation rules in SQL', () => {
  it('the creation rules in SQL find exactly the facts of each player’s history', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const written = await write(history);
        const players = everyPlayer(history, written);
        const queries = players.map(({ challenge, ...query }) => ({ ...query, challengeId: challenge.id }));
        const expected = players.map(({ facts }) => facts);

        const forCreations = await loadPlayerFacts(database, queries, NOW);
        expect(forCreations).toEqual(expected.map((facts) => ({ ...facts, isKnownAttempt: false })));

        const ids = written.challenges.map(({ id }) => id);
        const ofAccounts = await Promise.all(
          written.accounts.map(async (id) => [id, await loadFactsOfAccount(database, ids, id, NOW)] as const),
        );
        const forLists = new Map(ofAccounts);
        expect(queries.map(({ accountId, challengeId }) => forLists.get(accountId)?.get(challengeId))).toEqual(
          expected,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('a player without an account has no history in SQL', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const { challenges } = await write(history);
        const queries = challenges.map(({ id }) => ({ attemptId: newId(), challengeId: id, accountId: null }));
        expect(await loadPlayerFacts(database, queries, NOW)).toEqual(
          challenges.map(({ terms }) => ({
            isKnownAttempt: false,
            claimed: false,
            parentClaimed: terms.parentChallengeId === null,
            paidInWindow: 0,
          })),
        );
      }),
      { numRuns: 10 },
    );
  });

  it('the creation rules in SQL admit an attempt exactly if the decision in TypeScript does', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const players = everyPlayer(history, await write(history));
        const decided = players.map(({ challenge, facts }) =>
          decideAvailability({ tenant: TENANT, challenge, player: facts, ceilings: CEILINGS }),
        );
        for (const decision of decided) seen.add(decision.kind === 'refused' ? decision.code : decision.kind);

        const cached = await loadChallenges(
          database,
          players.map(({ challenge }) => challenge.id),
        );
        const optimistic = decideCachedCreations(
          players.map(({ challenge, accountId, attemptId }) => ({
            creation: {
              attemptId,
              tenant: TENANT,
              challengeId: challenge.id,
              playerRef: 'player',
              metadata: '{}',
              idempotencyUse: null,
            },
            account: { accountId, isFresh: true },
            challenge: cached.get(challenge.id)?.challenge ?? null,
          })),
          { ceilings: CEILINGS, now: NOW },
        );
        const attempts = optimistic.flatMap((decision) => {
          const challengeVersion = decision === null ? undefined : cached.get(decision.challenge.id)?.version;
          return decision === null || challengeVersion === undefined
            ? []
            : [{ attempt: decision.attempt, challengeVersion, needsSlot: false, idempotencyUse: null }];
        });
        const created = await insertOptimisticAttempts(database, attempts, { now: NOW });
        expect(players.map(({ attemptId }) => created.has(attemptId))).toEqual(
          decided.map(({ kind }) => kind === 'available'),
        );
      }),
      { numRuns: 100 },
    );
    expect([...seen].toSorted()).toEqual([
      'attempt_cap_reached',
      'available',
      'challenge_already_claimed',
      'challenge_not_available',
      'rung_locked',
    ]);
  });
});
