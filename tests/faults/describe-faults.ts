import type { StackOptions } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world.ts';
import { type DeliveredEvents, receiveEvents } from './delivered-events.ts';
import { type PlayedRow, playRow } from './play.ts';
import { contestsOf, type FaultCase, type Flow, killedServices, rowsOf } from './table.ts';

/** The flows whose outcomes clear the bar. */
const WINNING: readonly Flow[] = ['win', 'late', 'release'];

/** The first test of a row plays all of its cases. */
const ROW_TIMEOUT_MS = 300_000;

/** The stack on which cases are played. */
interface FaultStack extends Pick<StackOptions, 'shape'> {
  /** Settings of the challenge and tournament services. */
  readonly ofAttempts?: Readonly<Record<string, string>>;
}

/**
 * Plays rows of the fault table one after another, on a stack that restarts dead processes. Each
 * case is verified by its own test.
 */
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
      // The grace is long enough that a restarted service gets the partner's retry first.
      const ofContests = { PENDING_GRACE_SECONDS: '1', OUTBOX_REPUBLISH_AFTER_MS: '200', ...ofAttempts };
      // Workers of services that no flow goes through would only use the cores.
      const contests = contestsOf(cases);
      const seldom = { SWEEP_INTERVAL_MS: '60000' };
      world = await startWorld({
        ...shape,
        failpoints: true,
        restart: true,
        standby: killedServices(cases),
        environment: {
          challenge: { ...ofContests, ...(!contests.has('challenge') && seldom) },
          tournament: { ...ofContests, ...(!contests.has('tournament') && seldom) },
          gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
          integration: { INTEGRATION_SWEEP_MS: '60000' },
        },
      });
      delivered = await receiveEvents(world);
      // Each challenge claims the pass rate that is played, so that no drift monitor suspends it.
      const { program } = delivered.developer;
      winningId = (await world.newChallenge({ target_pass_rate: 0.9 }, program)).id;
      losingId = (await world.newChallenge({ target_pass_rate: 0.002 }, program)).id;
    });
    afterAll(() => world?.[Symbol.asyncDispose]());

    for (const row of rowsOf(cases)) {
      let played: Promise<PlayedRow> | undefined;
      for (const fault of row) {
        const partner = fault.retries ? 'the partner retries' : 'the partner does not retry';
        const title = `${fault.failpoint}, ${fault.action}, during ${fault.flow}, ${partner}`;
        test(title, { timeout: ROW_TIMEOUT_MS }, async () => {
          const challengeId = WINNING.includes(fault.flow) ? winningId : losingId;
          played ??= playRow({ world, delivered, challengeId }, row);
          await (await played).verify(fault);
        });
      }
    }

    test('the audit finds no violation after the fault cases', async () => {
      await world.stack.ready();
      await world.expectAuditOk();
      expect((await delivered.developer.program.test.listChallenges('anyone')).status).toBe(200);
      expect((await delivered.developer.program.test.listTournaments()).status).toBe(200);
    });
  });
}
