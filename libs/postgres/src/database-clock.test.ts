import { metrics } from '@laurel/telemetry';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from './database.ts';
import { type DatabaseClock, startDatabaseClock } from './database-clock.ts';
import { ConnectionFailedError } from './errors.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 12);

/**
 * A machine and a database whose clocks the test moves. `pass` lets time pass on both.
 */
function createMachine() {
  const machine = {
    monotonic: 5_000,
    system: NOW,
    /** The database's time minus this machine's. */
    ahead: 0,
    roundTripMs: 2,
    isAnswering: true,
    asked: 0,
    pass(ms: number) {
      machine.monotonic += ms;
      machine.system += ms;
      databaseTime += ms;
    },
    /** Lets time pass that the monotonic clock does not count. */
    sleep(ms: number) {
      machine.system += ms;
      databaseTime += ms;
    },
    databaseTime: () => databaseTime + machine.ahead,
  };
  let databaseTime = NOW;
  const query = async () => {
    machine.asked += 1;
    if (!machine.isAnswering) throw new ConnectionFailedError('away');
    machine.pass(machine.roundTripMs / 2);
    const shown = machine.databaseTime();
    machine.pass(machine.roundTripMs / 2);
    return [{ shown }];
  };
  const logged: { level: string; message: string; differenceMs?: number; stepMs?: number }[] = [];
  const log = (level: string) => (fields: object, message: string) => void logged.push({ level, message, ...fields });
  return Object.assign(machine, {
    logged,
    start: () =>
      startDatabaseClock({
        database: { query: query as unknown as Database['query'] },
        logger: { warn: log('warn'), info: log('info') },
        monotonicClock: () => machine.monotonic,
        systemClock: () => machine.system,
      }),
    /** Resolves when the database's clock has been measured again, with all samples. */
    async measured() {
      const asked = machine.asked;
      await vi.advanceTimersByTimeAsync(2_000);
      expect(machine.asked).toBeGreaterThan(asked);
    },
  });
}

/** How far a reading is from the database's time. */
function errorOf(clock: DatabaseClock, machine: { databaseTime(): number }): number {
  return Math.abs(clock.now().getTime() - machine.databaseTime());
}

describe('the clock of a database', () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterAll(() => void vi.useRealTimers());

  test('a database clock returns the database’s time without a query', async () => {
    const machine = createMachine();
    machine.system += 125 * 60_000;
    using clock = await machine.start();
    expect(machine.asked).toBe(3);
    machine.pass(1_500);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(3);
    expect(machine.asked).toBe(3);
  });

  test('a database clock logs once that the system’s clock differs by more than two seconds', async () => {
    const machine = createMachine();
    using _clock = await machine.start();
    expect(machine.logged).toEqual([]);

    machine.system += 125 * 60_000;
    for (let times = 0; times < 3; times += 1) await machine.measured();
    expect(machine.logged).toEqual([
      { level: 'warn', message: expect.stringContaining('differs'), differenceMs: 7_500_000 },
    ]);
    expect(await metrics.metrics()).toMatch(/laurel_clock_difference_seconds 7500/);

    machine.system -= 125 * 60_000;
    for (let times = 0; times < 3; times += 1) await machine.measured();
    expect(machine.logged.slice(1)).toEqual([
      { level: 'info', message: expect.stringContaining('again'), differenceMs: 0 },
    ]);
    expect(await metrics.metrics()).toMatch(/laurel_clock_difference_seconds 0/);
  });

  test('a database clock is unknown until the database has answered', async () => {
    const machine = createMachine();
    machine.isAnswering = false;
    using clock = await machine.start();
    expect(clock.isKnown()).toBe(false);
    expect(() => clock.now()).toThrow(ConnectionFailedError);
    expect(machine.logged).toMatchObject([{ level: 'warn', message: expect.stringContaining('not known') }]);

    machine.isAnswering = true;
    await vi.advanceTimersByTimeAsync(200);
    expect(clock.isKnown()).toBe(true);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
    expect(machine.logged).toMatchObject([{ level: 'warn' }, { level: 'info' }]);
  });

  test('a database clock is unknown if answers are so slow that the error could reach half a second', async () => {
    const machine = createMachine();
    machine.roundTripMs = 1_010;
    using clock = await machine.start();
    expect(clock.isKnown()).toBe(false);
    machine.roundTripMs = 900;
    await vi.advanceTimersByTimeAsync(200);
    expect(clock.isKnown()).toBe(true);
  });

  test('a database clock continues without the database until its error could reach half a second', async () => {
    const machine = createMachine();
    using clock = await machine.start();
    machine.isAnswering = false;
    machine.pass(8 * 60_000);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
    machine.pass(60_000);
    expect(clock.isKnown()).toBe(false);
    expect(() => clock.now()).toThrow(ConnectionFailedError);
  });

  test('a database clock fails after the machine slept until a new measurement', async () => {
    const machine = createMachine();
    using clock = await machine.start();
    machine.sleep(HOUR_MS);
    expect(clock.isKnown()).toBe(false);
    expect(() => clock.now()).toThrow(ConnectionFailedError);
    // A reading that fails triggers a measurement immediately.
    await vi.advanceTimersByTimeAsync(0);
    expect(clock.isKnown()).toBe(true);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
  });

  test('a database clock discards an answer that arrived after the machine slept', async () => {
    const machine = createMachine();
    machine.isAnswering = false;
    using clock = await machine.start();
    machine.isAnswering = true;
    const pass = machine.pass;
    machine.pass = (ms) => {
      pass(ms);
      machine.pass = pass;
      machine.sleep(HOUR_MS);
    };
    await vi.advanceTimersByTimeAsync(200);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
  });

  test('a database clock of a process that was stopped for an hour is right or fails', async () => {
    const machine = createMachine();
    using clock = await machine.start();
    // The monotonic clock continues while a process is stopped, so only the drift makes the bounds
    // too wide.
    machine.pass(HOUR_MS);
    expect(() => clock.now()).toThrow(ConnectionFailedError);
    await vi.advanceTimersByTimeAsync(0);
    expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
  });

  test('a database clock follows a database whose clock was set', async () => {
    for (const aheadMs of [5_000, -5_000]) {
      const machine = createMachine();
      using clock = await machine.start();
      clock.now();
      machine.ahead = aheadMs;
      await machine.measured();
      expect(errorOf(clock, machine)).toBeLessThanOrEqual(1);
      expect(machine.logged[0]).toMatchObject({ level: 'warn', message: expect.stringContaining('was set') });
      expect(machine.logged[0]?.stepMs).toBe(aheadMs);
    }
  });

  test('a database clock goes back only for a step of more than a second', async () => {
    const change = fc.record({
      passMs: fc.integer({ min: 0, max: 3_000 }),
      setMs: fc.integer({ min: -3_000, max: 3_000 }),
      roundTripMs: fc.integer({ min: 0, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const machine = createMachine();
        using clock = await machine.start();
        let last = clock.now().getTime();
        for (const { passMs, setMs, roundTripMs } of changes) {
          machine.pass(passMs);
          machine.ahead += setMs;
          machine.roundTripMs = roundTripMs;
          await machine.measured();
          const reading = clock.now().getTime();
          const back = last - reading;
          if (back > 0) expect(back).toBeGreaterThanOrEqual(1_000);
          // At most half a round trip, or the step for which the clock stands still.
          const ahead = reading - machine.databaseTime();
          expect(ahead).toBeLessThanOrEqual(1_001 + 200);
          expect(ahead).toBeGreaterThanOrEqual(-202);
          last = reading;
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the clock of a real database', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    database = createDatabase({ url: scratch.url, maxConnections: 1, applicationName: 'clock-test' });
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
  });

  test('the clock of a real database returns a time between two of its answers', async () => {
    const ask = async () => {
      const [row] = await database.query<{ now: Date }>({ text: 'select clock_timestamp() as now' });
      return row?.now.getTime() ?? 0;
    };
    const logger = { warn: vi.fn(), info: vi.fn() };
    const options = { database, logger, systemClock: () => Date.now() - 600_000 };
    using clock = await startDatabaseClock(options);
    const before = await ask();
    const reading = clock.now().getTime();
    const after = await ask();
    expect(reading).toBeGreaterThanOrEqual(before - 500);
    expect(reading).toBeLessThanOrEqual(after + 500);
    expect(logger.warn.mock.calls).toEqual([
      [{ differenceMs: expect.closeTo(-600_000, -3) }, expect.stringContaining('differs')],
    ]);
  });
});
