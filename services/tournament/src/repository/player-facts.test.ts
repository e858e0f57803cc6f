/**
 * What counts towards a round's cap, in SQL and in TypeScript: both are compared over a generated
 * history.
 */
import type { AttemptStatus } from '@laurel/attempts/domain';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideAdmission } from '../domain/entry-decision.ts';
import { runOwnChecks } from './audit.ts';
import { loadPlayerFacts } from './player-facts.ts';
import { type Harness, NOW, startHarness, TENANT } from './repository.fixture.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const FEE_WAS_RETURNED: readonly AttemptStatus[] = ['expiring', 'expired', 'voiding', 'voided', 'refused'];
const STATUSES: readonly AttemptStatus[] = ['pending', 'open', 'settled', ...FEE_WAS_RETURNED];
const CLOSED_WITH_A_REASON: readonly AttemptStatus[] = ['voiding', 'voided', 'refused'];

const PLAYERS = 2;
const histories = fc.record({
  cap: fc.integer({ min: 1, max: 3 }),
  attempts: fc.array(fc.record({ player: fc.nat(PLAYERS - 1), status: fc.constantFrom(...STATUSES) }), {
    maxLength: 10,
  }),
});

const SET_STATUS = {
  text: `
update attempts a set status = s.status, closed_reason = s.closed_reason
from unnest($1::uuid[], $2::text[], $3::text[]) as s (id, status, closed_reason) where a.id = s.id`,
};

async function capsPassed(): Promise<number> {
  const check = (await runOwnChecks(harness.database)).find(({ id }) => id === 'cap_was_kept');
  return Number(check?.violations);
}

describe('the cap of a round', () => {
  it('admission and audit count the same attempts towards the cap', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ cap, attempts }) => {
        const round = await harness.openRound({ attemptCap: cap });
        const players = Array.from({ length: PLAYERS }, () => ({ accountId: newId(), playerRef: newId() }));
        const before = await capsPassed();
        const entering = attempts.flatMap(({ player }) => players[player] ?? []);
        const begun = await harness.begin(round, entering);
        await harness.database.query(SET_STATUS, [
          begun.map(({ id }) => id),
          attempts.map(({ status }) => status),
          attempts.map(({ status }) => (CLOSED_WITH_A_REASON.includes(status) ? 'a test' : null)),
        ]);
        const counted = players.map(
          (_, index) => attempts.filter((one) => one.player === index && !FEE_WAS_RETURNED.includes(one.status)).length,
        );

        const queries = players.map(({ accountId }) => ({
          attemptId: newOwnedId('tournament'),
          roundId: round.id,
          accountId,
        }));
        const facts = await loadPlayerFacts(harness.database, queries);
        expect(facts).toEqual(counted.map((bought) => ({ isKnownAttempt: false, bought })));

        const isAdmitted = facts.map(({ bought }) => {
          const decision = decideAdmission({ tenant: TENANT, round, bought, now: NOW });
          return decision.kind === 'refused' ? decision.code : decision.kind;
        });
        expect(isAdmitted).toEqual(counted.map((bought) => (bought < cap ? 'admitted' : 'attempt_cap_reached')));
        expect((await capsPassed()) - before).toBe(counted.filter((bought) => bought > cap).length);
      }),
      { numRuns: 40 },
    );
  });

  it('no attempt counts towards the cap for a player without an account', async () => {
    const round = await harness.openRound();
    await harness.begin(round, [{ accountId: newId(), playerRef: 'player' }]);
    const query = { attemptId: newOwnedId('tournament'), roundId: round.id, accountId: null };
    expect(await loadPlayerFacts(harness.database, [query])).toEqual([{ isKnownAttempt: false, bought: 0 }]);
  });
});
