import type { StackOptions } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world.ts';
import { type DeliveredEvents, receiveEvents } from './delivered-events.ts';
import { playFault } from './play.ts';
import { type FaultCase, type Flow, killedServices } from './table.ts';

/** The flows whose outcomes clear the bar. */
const WINNING: readonly Flow[] = ['win', 'late', 'release'];

/** The stack on which cases are played. */
interface FaultStack extends Pick<StackOptions, 'shape'> {
  /** Settings of the challenge and tournament services. */
  readonly ofAttempts?: Readonly<Record<string, string>>;
}

/** Plays cases of the fault table one after another, on a stack that restarts dead processes. */
export function describeFaults(
  title: string,
  cases: readonly FaultCase[],
  { ofAttempts = {}, ...shape }: FaultStack = {},
): void {
  describe(title, () => {
    let world: World;
    let delivered: DeliveredEvents;
    let [winningId, losingId] = ['', ''];
    beforeAll(async () => {
      // Long enough that a restarted service meets the retry first, and short enough to wait for.
      const owner = { PENDING_GRACE_SECONDS: '1', OUTBOX_REPUBLISH_AFTER_MS: '200', ...ofAttempts };
      world = await startWorld({
        ...shape,
        failpoints: true,
        restart: true,
        standby: killedServices(cases),
        environment: {
          challenge: owner,
          tournament: owner,
          gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
        },
      });
      delivered = await receiveEvents(world);
      // Each challenge claims the pass rate that is played, so that no drift monitor suspends it.
      const { program } = delivered.developer;
      winningId = (await world.newChallenge({ target_pass_rate: 0.9 }, program)).id;
      losingId = (await world.newChallenge({ target_pass_rate: 0.002 }, program)).id;
    });
    afterAll(() => world?.[Symbol.asyncDispose]());

    for (const fault of cases) {
      const partner = fault.retries ? 'the partner retries' : 'the partner does not retry';
      test(`${fault.failpoint}, ${fault.action}, during ${fault.flow}, ${partner}`, () =>
        playFault({ world, delivered, challengeId: WINNING.includes(fault.flow) ? winningId : losingId }, fault));
    }

    test('the audit finds no violation after the fault cases', async () => {
      await world.stack.ready();
      await world.expectAuditOk();
      expect((await delivered.developer.program.test.listChallenges('anyone')).status).toBe(200);
      expect((await delivered.developer.program.test.listTournaments()).status).toBe(200);
    });
  });
}
