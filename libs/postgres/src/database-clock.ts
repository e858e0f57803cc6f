/**
 * The database's time, as a clock of this process. All replicas decide by it alike, however wrong
 * their machines' clocks are.
 *
 * - It adds a measured offset (clock-offset.ts) to the process's monotonic clock, so a reading
 *   needs no query.
 * - unknown: before the first measurement; when the database has not answered for so long that the
 *   bounds are too wide; and when the system's clock and the monotonic one disagree about the time
 *   since the last measurement. In the last case the system's clock was set, or the machine slept,
 *   which the monotonic clock does not count; only the database shows which. A reading fails, and
 *   triggers a measurement.
 * - known: readings are within MAX_ERROR_MS of the database's time and never go back, except by a
 *   step. For a correction of up to MAX_STANDSTILL_MS they stand still until the database has
 *   caught up. They follow a larger correction immediately: the database's clock was set, or
 *   another server took over.
 *
 * A virtual machine that is paused from outside may lose time on both clocks. The next measurement,
 * within MEASURE_EVERY_MS, shows it.
 */
import { gauge } from '@laurel/telemetry';
import {
  type ClockOffset,
  type ClockSample,
  likeliestOffsetMs,
  maxErrorMs,
  offsetOf,
  refineOffset,
} from './clock-offset.ts';
import type { Database } from './database.ts';
import { ConnectionFailedError } from './errors.ts';

export interface DatabaseClock extends Disposable {
  /** The database's time. Throws a ConnectionFailedError while it is unknown. */
  readonly now: () => Date;
  /** Whether `now` returns a time. A process without the time must not be ready. */
  readonly isKnown: () => boolean;
}

export interface DatabaseClockOptions {
  readonly database: Pick<Database, 'query'>;
  readonly logger: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /**
   * Returns milliseconds since an arbitrary instant; setting the system's clock does not change
   * them.
   */
  readonly monotonicClock?: () => number;
  /** Returns milliseconds since the epoch, by the system's clock. */
  readonly systemClock?: () => number;
}

const MEASURE_EVERY_MS = 2_000;
/** The interval is short: while the time is unknown, nothing is served. */
const MEASURE_AGAIN_MS = 200;
/** A measurement uses the shortest of this many round trips. */
const SAMPLES = 3;
const MAX_ERROR_MS = 500;
/** NTP corrects both clocks alike, so they disagree only after a step or a sleep. */
const MAX_DISAGREEMENT_MS = 250;
const MAX_STANDSTILL_MS = 1_000;
/** A larger difference is logged once, and again only after it was less than half of this. */
const LOGGED_DIFFERENCE_MS = 2_000;

const READ_CLOCK = {
  name: 'read_clock',
  text: 'select extract(epoch from clock_timestamp())::float8 * 1000 as shown',
};

/** Resolves after the first measurement; `isKnown` says whether the database answered it. */
export async function startDatabaseClock(options: DatabaseClockOptions): Promise<DatabaseClock> {
  const { database, logger, monotonicClock = () => performance.now(), systemClock = () => Date.now() } = options;
  const difference = gauge(
    'laurel_clock_difference_seconds',
    "The system's clock less the database's, by which everything is decided.",
  );
  let offset: ClockOffset | undefined;
  /** The system's time minus the monotonic clock's at the last measurement. */
  let systemOffset = 0;
  let lastReading = Number.NEGATIVE_INFINITY;
  let isUnknownLogged = false;
  let isDifferenceLogged = false;
  let isStopped = false;
  let stop = () => {};
  /** Ends the pause before the next measurement. */
  let askSoon = () => {};

  /** Whether one of the two clocks was set, or stood still, since the last measurement. */
  function disagree(at: number): boolean {
    return Math.abs(systemClock() - at - systemOffset) > MAX_DISAGREEMENT_MS;
  }

  function knownAt(at: number): ClockOffset | undefined {
    if (offset === undefined || maxErrorMs(offset, at) > MAX_ERROR_MS || disagree(at)) return undefined;
    return offset;
  }

  function now(): Date {
    const at = monotonicClock();
    const known = knownAt(at);
    if (known === undefined) {
      askSoon();
      throw new ConnectionFailedError("the database's time is not known");
    }
    const time = at + likeliestOffsetMs(known);
    const back = lastReading - time;
    if (back <= 0 || back > MAX_STANDSTILL_MS) lastReading = time;
    return new Date(lastReading);
  }

  async function sample(): Promise<void> {
    const systemBefore = systemClock();
    const sentAt = monotonicClock();
    const [row] = await database.query<{ shown: number }>(READ_CLOCK);
    const receivedAt = monotonicClock();
    const systemAfter = systemClock();
    if (row === undefined) throw new Error('a select without from answers one row');
    // A process that slept in between does not know how long the round trip took.
    if (Math.abs(systemAfter - systemBefore - (receivedAt - sentAt)) > MAX_DISAGREEMENT_MS) return;
    take({ sentAt, receivedAt, shown: row.shown });
    systemOffset = systemAfter - receivedAt;
  }

  function take(sampled: ClockSample): void {
    const before = offset;
    // A sleep of the machine voids earlier measurements.
    if (before === undefined || disagree(sampled.receivedAt)) {
      offset = offsetOf(sampled);
      return;
    }
    const refined = refineOffset(before, sampled);
    offset = refined.offset;
    const stepMs = likeliestOffsetMs(refined.offset) - likeliestOffsetMs(before);
    if (refined.isStep && Math.abs(stepMs) > MAX_STANDSTILL_MS) {
      logger.warn({ stepMs: Math.round(stepMs) }, "the database's clock was set");
    }
  }

  async function measure(): Promise<void> {
    let failure: unknown;
    try {
      for (let count = 0; count < SAMPLES; count += 1) await sample();
    } catch (error) {
      failure = error;
    }
    if (!isStopped) report(failure);
  }

  function report(failure: unknown): void {
    const at = monotonicClock();
    const known = knownAt(at);
    if (known === undefined) {
      const errorMs = offset === undefined ? undefined : Math.round(maxErrorMs(offset, at));
      if (!isUnknownLogged) logger.warn({ err: failure, errorMs }, "the database's time is not known: not ready");
      isUnknownLogged = true;
      return;
    }
    if (isUnknownLogged) logger.info({}, "the database's time is known again");
    isUnknownLogged = false;

    const differenceMs = systemClock() - (at + likeliestOffsetMs(known));
    difference.set(differenceMs / 1_000);
    const fields = { differenceMs: Math.round(differenceMs) };
    if (!isDifferenceLogged && Math.abs(differenceMs) > LOGGED_DIFFERENCE_MS) {
      isDifferenceLogged = true;
      logger.warn(fields, "the system's clock differs from the database's, by which the service decides");
    } else if (isDifferenceLogged && Math.abs(differenceMs) < LOGGED_DIFFERENCE_MS / 2) {
      isDifferenceLogged = false;
      logger.info(fields, "the system's clock is the database's again");
    }
  }

  async function pause(ms: number, options: { readonly isEndedByReadings: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    stop = end;
    if (options.isEndedByReadings) askSoon = end;
    await promise;
    askSoon = () => {};
  }

  async function keepMeasuring(): Promise<void> {
    while (!isStopped) {
      // While the database does not answer, failed readings trigger no more measurements than
      // usual.
      const wasKnown = knownAt(monotonicClock()) !== undefined;
      await pause(wasKnown ? MEASURE_EVERY_MS : MEASURE_AGAIN_MS, { isEndedByReadings: wasKnown });
      if (!isStopped) await measure();
    }
  }

  await measure();
  void keepMeasuring();

  return {
    now,
    isKnown: () => {
      const isKnown = knownAt(monotonicClock()) !== undefined;
      if (!isKnown) askSoon();
      return isKnown;
    },
    [Symbol.dispose]() {
      isStopped = true;
      stop();
    },
  };
}
