/**
 * The poller: begins the polls that are due, and lets no partner delay another
 * (domain/poll-slots.ts).
 *
 *   sweep    reads which integrations are due and not leased, whichever process made them due
 *   lease    one durable statement leases those that get a slot; also when a poll ends while others
 *            wait for its slot (when: libs/service/src/dispatch-loop.ts)
 *   poll     outside of any transaction (poll-one.ts)
 *
 * A poll begins at most one sweep after it is due, and the next one is due an interval after it
 * began. So an interval is at most one sweep late, and missed polls are not made up for. Replicas
 * need no coordination: `lease` skips what another replica has locked or leased.
 */
import { createDispatchLoop } from '@laurel/service';
import { counter, gauge, histogram } from '@laurel/telemetry';
import { leaseUntil } from '../domain/poll-schedule.ts';
import { createPollSlots, type DuePoll } from '../domain/poll-slots.ts';
import { failpoint } from '../failpoints.ts';
import { findDuePolls, leasePolls, type PollLease } from '../repository/poll-leases.ts';
import { createPollOne, type PollEnd, type PollOneDeps } from './poll-one.ts';

export type PollerDeps = Omit<PollOneDeps, 'isStopping'> & {
  /** The most polls in flight: to one origin, and in total. */
  readonly pollsPerOrigin: number;
  readonly polls: number;
};

export interface Poller extends AsyncDisposable {
  /** The sweep: begins the due polls that get a slot; the others begin as slots become free. */
  runOnce(now: Date): Promise<void>;
  /**
   * Resolves once every poll that this process began has ended, and no poll that the last sweep
   * found is left.
   */
  whenIdle(): Promise<void>;
}

/**
 * How long after one search for due polls the next begins, unless the configuration sets another
 * time.
 */
export const DEFAULT_SWEEP_MS = 1_000;
/** The most due integrations that are held between two sweeps: of one origin, and in total. */
const MAX_WAITING_BODIES = { perOrigin: 100, total: 5_000 };
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createPoller(deps: PollerDeps): Poller {
  const { database, clock, logger, timeoutMs } = deps;
  const metrics = createMetrics();
  const slots = createPollSlots(deps);
  const loop = createDispatchLoop({ name: 'polls', logger, allocate: slots.allocate, lease });
  const pollOne = createPollOne({ ...deps, isStopping: () => loop.isStopping });

  async function lease(allocated: readonly DuePoll[]): Promise<readonly Promise<void>[]> {
    let leases: ReadonlyMap<string, PollLease> = new Map();
    try {
      leases = await leaseDue(allocated);
    } finally {
      // A due poll that got no lease belongs to another replica, or is no longer due. If the
      // database failed, the next sweep finds it again.
      for (const due of allocated) if (!leases.has(due.integrationId)) slots.releaseUnused(due);
      metrics.inFlight.set(slots.inFlight);
      metrics.waiting.set(slots.waiting);
    }
    return allocated.flatMap((due) => {
      const leased = leases.get(due.integrationId);
      return leased === undefined ? [] : [poll(due, leased)];
    });
  }

  async function leaseDue(allocated: readonly DuePoll[]): Promise<ReadonlyMap<string, PollLease>> {
    const now = clock();
    const ids = allocated.map(({ integrationId }) => integrationId);
    await failpoint('integration.poll.before-lease');
    const leases = await leasePolls(database, ids, { now, leasedUntil: leaseUntil(now, timeoutMs) });
    await failpoint('integration.poll.after-lease');
    return new Map(leases.map((leased) => [leased.integrationId, leased]));
  }

  /** Polls one due integration, and never rejects. */
  async function poll(due: DuePoll, leased: PollLease): Promise<void> {
    const { environment } = due.tenant;
    metrics.lateness.observe({ environment }, (leased.begunAt.getTime() - leased.dueAt.getTime()) / 1_000);
    const begunAt = performance.now();
    let end: PollEnd = 'interrupted';
    try {
      end = await pollOne(leased);
    } catch (error) {
      logger.error({ err: error, integrationId: leased.integrationId }, 'the end of a poll could not be recorded');
    }
    const durationMs = performance.now() - begunAt;
    slots.release(due, durationMs);
    metrics.polls.inc({ outcome: end.startsWith('http_') ? 'http' : end, environment });
    metrics.duration.observe({ environment }, durationMs / 1_000);
    metrics.inFlight.set(slots.inFlight);
    loop.wake();
  }

  return {
    async runOnce(now) {
      const due = await findDuePolls(database, now, MAX_WAITING_BODIES);
      slots.setWaiting(due.filter(({ tenant }) => deps.budget.mayPoll(tenant, now)));
      metrics.waiting.set(slots.waiting);
      loop.wake();
    },
    whenIdle: loop.whenIdle,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

function createMetrics() {
  return {
    polls: counter(
      'laurel_integration_polls_total',
      'Polls that ended, by environment and outcome: succeeded, or why they failed.',
      ['outcome', 'environment'],
    ),
    duration: histogram('laurel_integration_poll_duration_seconds', 'From the lease of a poll to its end.', SECONDS, [
      'environment',
    ]),
    lateness: histogram('laurel_integration_poll_lateness_seconds', 'From when a poll was due to its begin.', SECONDS, [
      'environment',
    ]),
    inFlight: gauge('laurel_integration_polls_in_flight', 'Polls that have begun and not ended.'),
    waiting: gauge('laurel_integration_polls_waiting', 'Integrations that are due and wait for a slot.'),
  };
}
