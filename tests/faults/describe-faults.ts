import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world.ts';
import { playFault } from './play.ts';
import type { FaultCase } from './table.ts';

/** Plays cases of the fault table one after another, against a stack that starts what dies again. */
export function describeFaults(
  title: string,
  cases: readonly FaultCase[],
  attemptEnvironment: Readonly<Record<string, string>> = {},
): void {
  describe(title, () => {
    let world: World;
    let challengeId: string;
    beforeAll(async () => {
      // Long enough for a restarted service to meet the retry first, short enough to wait for.
      const owner = { PENDING_GRACE_SECONDS: '3', ...attemptEnvironment };
      world = await startWorld({
        failpoints: true,
        restart: true,
        environment: {
          challenge: owner,
          tournament: owner,
          gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
        },
      });
      challengeId = (await world.newChallenge()).id;
    });
    afterAll(() => world?.[Symbol.asyncDispose]());

    for (const fault of cases) {
      const partner = fault.retries ? 'the partner retries' : 'the partner does not retry';
      test(`${fault.failpoint}, ${fault.action}, during ${fault.flow}, ${partner}`, () =>
        playFault(world, challengeId, fault));
    }

    test('leaves the audit good and no service in a state that needs a restart', async () => {
      await world.stack.ready();
      await world.expectAuditOk();
      expect((await world.partner.listChallenges('anyone')).status).toBe(200);
      expect((await world.partner.listTournaments()).status).toBe(200);
    });
  });
}
