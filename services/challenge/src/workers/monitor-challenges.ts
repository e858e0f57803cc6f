/**
 * The worker of the drift monitors. It takes waiting outcomes from the queue, counts them, suspends
 * challenges whose monitor rejects, and completes ramps (domain/monitor-decision.ts). It runs soon
 * after this process has settled attempts, without delaying those calls. It also runs at each
 * interval, for the outcomes that other processes left.
 *
 * One transaction counts some batches of outcomes:
 * 1. It takes them from the queue. Another process that counts skips what is taken, so no outcome
 *    is counted twice.
 * 2. It locks the free monitors among those of the outcomes, and reads their challenges under these
 *    locks. An operator locks the monitor before changing the status, so a status that is read here
 *    does not change. Outcomes whose monitor is not free are put back.
 * 3. It writes the counts and readings of the monitors. If a monitor suspends its challenge or
 *    completes its ramp, it also writes the new state, the history and the event. Outcomes that it
 *    counted for an unconfirmed bar free their slots.
 *
 * What a crash leaves:
 * - After the commit of the outcomes: rows that wait. The next run counts them.
 * - In steps 1 to 3, before their commit: the same rows, because nothing took effect.
 * - After the commit of step 3: everything is written, but the event is not published. The relay
 *   publishes it.
 *
 * A row may appear behind one with a higher number that is already counted, because its transaction
 * committed later. A later run counts it: every order is valid.
 */
import type { Outbox } from '@laurel/events';
import type { Database, Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock, Logger } from '@laurel/service';
import { type DriftMonitor, decideMonitoring } from '../domain/monitor-decision.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { challengeSuspended } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { completeRamp, updateChallengeStatus } from '../repository/challenges.ts';
import {
  insertReadings,
  loadMonitoredChallenges,
  lockAvailableMonitors,
  updateMonitors,
} from '../repository/drift-monitors.ts';
import { releaseSlots } from '../repository/ramp-slots.ts';
import { insertStatusChange } from '../repository/status-changes.ts';
import { putBackOutcomes, takeUnmonitoredOutcomes, type UnmonitoredBatch } from '../repository/unmonitored-outcomes.ts';

export interface ChallengeMonitor extends AsyncDisposable {
  /**
   * Schedules a count of the outcomes that this process has settled. Never throws, and no caller
   * waits for the count.
   */
  wake(): void;
  /** Counts the outcomes that wait now, up to the limit of a run. A later run counts the rest. */
  runOnce(): Promise<void>;
}

type MonitorDeps = {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly logger: Logger;
  readonly ceilings: TierCeilings;
  readonly clock: Clock;
};

/**
 * The least time between a run and the next run that a wake starts. So a few statements count all
 * outcomes of a busy second.
 */
const GATHER_MS = 1_000;
/** The limit of one transaction. A batch has up to 200 outcomes, so it counts at most 100,000. */
const MAX_BATCHES = 500;
/** The limit of one run, so that a backlog does not keep the worker from stopping. */
const MAX_TRANSACTIONS = 20;

export function createChallengeMonitor(deps: MonitorDeps): ChallengeMonitor {
  const { logger } = deps;
  let isStopping = false;
  let lastRun = Promise.resolve();
  let lastBegunAt = Number.NEGATIVE_INFINITY;
  let woken: NodeJS.Timeout | undefined;

  /** Starts a run once the previous one has ended. */
  function runOnce(): Promise<void> {
    const run = lastRun.then(async () => {
      lastBegunAt = performance.now();
      // This run also counts the outcomes for which a wake was set.
      clearTimeout(woken);
      woken = undefined;
      if (await countWaiting()) wake(0);
    });
    lastRun = run.catch(() => undefined);
    return run;
  }

  /** Returns whether outcomes are left. */
  async function countWaiting(): Promise<boolean> {
    for (let count = 0; count < MAX_TRANSACTIONS; count += 1) {
      if ((await countOutcomes(deps)) < MAX_BATCHES) return false;
    }
    return true;
  }

  function wake(delayMs = Math.max(0, lastBegunAt + GATHER_MS - performance.now())): void {
    if (woken !== undefined || isStopping) return;
    woken = setTimeout(() => {
      woken = undefined;
      runOnce().catch((error: unknown) => {
        logger.warn({ err: error }, 'outcomes could not be counted; the sweep will');
      });
    }, delayMs);
  }

  return {
    wake: () => wake(),
    runOnce,
    async [Symbol.asyncDispose]() {
      isStopping = true;
      clearTimeout(woken);
      // If this run fails, another process counts the outcomes a moment later.
      if (woken !== undefined) runOnce().catch(() => undefined);
      await lastRun;
    },
  };
}

/** Returns how many batches it took. */
async function countOutcomes(deps: MonitorDeps): Promise<number> {
  const { taken, events } = await deps.database.transaction((tx) => takeAndDecide(tx, deps));
  if (taken > 0) await failpoint('challenge.monitor.after-commit');
  deps.outbox.publish(events);
  return taken;
}

type Taken = { readonly taken: number; readonly events: readonly Event[] };

async function takeAndDecide(tx: Transaction, deps: MonitorDeps): Promise<Taken> {
  const batches = await takeUnmonitoredOutcomes(tx, MAX_BATCHES);
  if (batches.length === 0) return { taken: 0, events: [] };
  const named = [...new Set(batches.flatMap(({ outcomes }) => outcomes.map(({ challengeId }) => challengeId)))];
  const monitors = await lockAvailableMonitors(tx, named);
  const ids = monitors.map(({ challengeId }) => challengeId);
  const challenges = await loadMonitoredChallenges(tx, ids);

  const now = deps.clock();
  const waiting = outcomesByMonitor(batches, monitors);
  const decisions = monitors.flatMap((monitor) => {
    const challenge = challenges.get(monitor.challengeId);
    const passed = waiting.get(monitor.challengeId) ?? [];
    if (challenge === undefined || passed.length === 0) return [];
    return decideMonitoring(monitor, challenge, passed, { ceilings: deps.ceilings, now }) ?? [];
  });
  const changes = decisions.flatMap(({ change }) => change ?? []);
  const events = changes.flatMap(({ challengeId, cause }) => {
    const challenge = challenges.get(challengeId);
    return cause === 'drift' && challenge !== undefined ? [challengeSuspended(challenge, now)] : [];
  });

  await failpoint('challenge.monitor.before-commit');
  await tx.commitWith(async (last) => {
    const readings = decisions.flatMap(({ monitor, reading }) =>
      reading === null ? [] : { challengeId: monitor.challengeId, startedAt: monitor.startedAt, ...reading },
    );
    const moved = changes.map(({ challengeId, cause, to }) =>
      cause === 'drift' ? updateChallengeStatus(last, challengeId, to) : completeRamp(last, challengeId, now),
    );
    // The writes are independent, so they are sent together; rows of challenges are locked in id
    // order.
    await Promise.all([
      putBackOutcomes(last, withoutMonitors(batches, new Set(ids))),
      updateMonitors(
        last,
        decisions.map(({ monitor }) => monitor),
      ),
      insertReadings(last, readings, now),
      releaseSlots(
        last,
        [...challenges.values()]
          .filter(({ hasRamp, rampCompletedAt }) => hasRamp && rampCompletedAt === null)
          .map(({ id }) => id),
      ),
      ...moved,
      ...changes.map((change) => insertStatusChange(last, change)),
      deps.outbox.insert(last, events),
    ]);
  });
  return { taken: batches.length, events };
}

/**
 * Whether each outcome cleared its bar, by challenge and in their order, for outcomes that settled
 * since the monitor started.
 */
function outcomesByMonitor(
  batches: readonly UnmonitoredBatch[],
  monitors: readonly DriftMonitor[],
): ReadonlyMap<string, readonly boolean[]> {
  const countsAfter = new Map(monitors.map((monitor) => [monitor.challengeId, monitor.countsAfter]));
  const waiting = new Map<string, boolean[]>(monitors.map(({ challengeId }) => [challengeId, []]));
  for (const { id, outcomes } of batches) {
    for (const { challengeId, passed } of outcomes) {
      const after = countsAfter.get(challengeId);
      if (after !== undefined && id > after) waiting.get(challengeId)?.push(passed);
    }
  }
  return waiting;
}

/** The batches without the outcomes of these challenges. */
function withoutMonitors(batches: readonly UnmonitoredBatch[], held: ReadonlySet<string>): readonly UnmonitoredBatch[] {
  return batches
    .map(({ id, outcomes }) => ({ id, outcomes: outcomes.filter(({ challengeId }) => !held.has(challengeId)) }))
    .filter(({ outcomes }) => outcomes.length > 0);
}
