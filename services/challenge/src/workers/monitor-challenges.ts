/**
 * The drift monitors at work: takes away the outcomes that wait, counts them, suspends the challenges whose monitor rejects, and completes
 * ramps (domain/monitor-decision.ts). It runs soon after this process has settled something, without delaying that, and each interval for
 * what other processes left.
 *
 * One transaction counts the outcomes of some challenges:
 *   1. it locks those of their monitors that are free. Another process that counts is passed over, so no outcome is counted twice;
 *   2. under these locks it reads the challenges and takes rows of the queue away. An operator locks the monitor before moving the status,
 *      so a status that is read here stays;
 *   3. it writes what the monitors have counted and their readings, moves the status or completes the ramp, and writes the history and the
 *      event of that.
 *
 * What a crash leaves, after each step:
 *   - the commit of the outcomes: rows that wait. The next run counts them.
 *   - steps 1 to 3, before the commit: the same, since nothing of them took effect.
 *   - the commit: all of it, and an event that is not published. The relay publishes it.
 *
 * A row may appear behind one with a higher number that is counted already, because its transaction committed later. It is counted by a
 * later run: every order is a valid one.
 */
import type { Outbox } from '@laurel/events';
import type { Database, Transaction } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock, Logger } from '@laurel/service';
import { decideMonitoring, type MonitorDecision } from '../domain/monitor-decision.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { challengeSuspended } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { completeRamp, updateChallengeStatus } from '../repository/challenges.ts';
import {
  insertReadings,
  loadMonitoredChallenges,
  lockFreeMonitors,
  updateMonitors,
} from '../repository/drift-monitors.ts';
import { insertStatusChange } from '../repository/status-changes.ts';
import { loadPendingChallenges, takeUnmonitoredOutcomes } from '../repository/unmonitored-outcomes.ts';

export interface ChallengeMonitor extends AsyncDisposable {
  /** Counts soon what this process has settled. Never throws, and no caller waits for it. */
  wake(): void;
  /** Counts what waits now, up to the limit of a run; the rest is left to the next. */
  runOnce(): Promise<void>;
}

type MonitorDeps = {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly logger: Logger;
  readonly ceilings: TierCeilings;
  readonly clock: Clock;
};

/** The least time between a run and one that a wake begins: the outcomes of a busy second are counted together, in few statements. */
const GATHER_MS = 1_000;
/** The limits of one transaction. A row has the outcomes of one batch, so it counts 100,000 outcomes at most. */
const MAX_CHALLENGES = 200;
const MAX_ROWS = 500;
/** The limit of one run: a backlog does not keep it from stopping. */
const MAX_TRANSACTIONS = 20;

export function createChallengeMonitor(deps: MonitorDeps): ChallengeMonitor {
  const { database, logger } = deps;
  let isStopping = false;
  let lastRun = Promise.resolve();
  let lastBegunAt = Number.NEGATIVE_INFINITY;
  let woken: NodeJS.Timeout | undefined;
  /** Where the next transaction goes on; null for the first challenge. So those with high ids wait for no backlog of others. */
  let after: string | null = null;

  /** Runs follow each other. */
  function runOnce(): Promise<void> {
    const run = lastRun.then(async () => {
      lastBegunAt = performance.now();
      // It counts what a wake is waiting for.
      clearTimeout(woken);
      woken = undefined;
      if (await countWaiting()) wake(0);
    });
    lastRun = run.catch(() => undefined);
    return run;
  }

  /** Whether it left some. */
  async function countWaiting(): Promise<boolean> {
    // A run that goes on where another one stopped has not seen the first challenges.
    let isSomeLeft = after !== null;
    for (let count = 0; count < MAX_TRANSACTIONS; count += 1) {
      const challengeIds = await loadPendingChallenges(database, after, MAX_CHALLENGES);
      const { isFull, upTo } = await countOutcomes(challengeIds, deps);
      isSomeLeft ||= isFull;
      after = isFull || challengeIds.length === MAX_CHALLENGES ? upTo : null;
      if (after !== null) continue;
      if (!isSomeLeft) return false;
      isSomeLeft = false;
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
      // Another process would count it a moment later.
      if (woken !== undefined) runOnce().catch(() => undefined);
      await lastRun;
    },
  };
}

/** Whether it took as much as one transaction may, and the last challenge that it looked at. */
type Counted = { readonly isFull: boolean; readonly upTo: string | null };

async function countOutcomes(challengeIds: readonly string[], deps: MonitorDeps): Promise<Counted> {
  if (challengeIds.length === 0) return { isFull: false, upTo: null };
  const { rows, lastTaken, events } = await deps.database.transaction((tx) => takeAndDecide(tx, challengeIds, deps));
  if (rows > 0) await failpoint('challenge.monitor.after-commit');
  deps.outbox.publish(events);
  const isFull = rows === MAX_ROWS;
  return { isFull, upTo: (isFull ? lastTaken : challengeIds.at(-1)) ?? null };
}

type Taken = { readonly rows: number; readonly lastTaken: string | null; readonly events: readonly Event[] };

async function takeAndDecide(tx: Transaction, challengeIds: readonly string[], deps: MonitorDeps): Promise<Taken> {
  const monitors = await lockFreeMonitors(tx, challengeIds);
  const ids = monitors.map(({ challengeId }) => challengeId);
  const [challenges, taken] = await Promise.all([
    loadMonitoredChallenges(tx, ids),
    takeUnmonitoredOutcomes(tx, ids, MAX_ROWS),
  ]);
  if (taken.length === 0) return { rows: 0, lastTaken: null, events: [] };

  const now = deps.clock();
  const outcomes = Map.groupBy(taken, ({ challengeId }) => challengeId);
  const decisions = monitors.flatMap((monitor): MonitorDecision | readonly MonitorDecision[] => {
    const challenge = challenges.get(monitor.challengeId);
    const passed = outcomes.get(monitor.challengeId)?.flatMap((row) => row.passed);
    if (challenge === undefined || passed === undefined) return [];
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
    // They do not depend on each other and are sent together; the rows of challenges are locked in the order of their ids.
    await Promise.all([
      updateMonitors(
        last,
        decisions.map(({ monitor }) => monitor),
      ),
      insertReadings(last, readings, now),
      ...moved,
      ...changes.map((change) => insertStatusChange(last, change)),
      deps.outbox.insert(last, events),
    ]);
  });
  return { rows: taken.length, lastTaken: taken.at(-1)?.challengeId ?? null, events };
}
