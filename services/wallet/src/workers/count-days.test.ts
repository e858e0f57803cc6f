/** The money of days agrees with the ledger, whatever was played, when and in which order. */

import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { pauseAfterRunMs } from '../domain/counted-day.ts';
import { closeDays, countDays, leaseDayCount } from '../repository/program-days.ts';
import {
  addPlayer,
  auditViolations,
  awardOf,
  charge,
  chargeOf,
  ok,
  openTestWallet,
  purseOf,
  type TestPlayer,
  type TestWallet,
} from '../wallet.fixture.ts';
import { createCountDays } from './count-days.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No replica counts by itself: the test's clock never reaches the end of this lease. */
const NEVER = new Date('2030-01-01T00:00:00.000Z');

const wallets = new AsyncDisposableStack();
afterAll(() => wallets.disposeAsync());

interface Played extends TestWallet {
  /** Counts now, as a due run does. */
  count(): Promise<void>;
}

type Chunks = { readonly chunkTransfers?: number; readonly chunksMs?: number };

async function open(chunks: Chunks = {}): Promise<Played> {
  const wallet = wallets.use(await openTestWallet({ MONEY_COUNT_INTERVAL_SECONDS: '3600' }));
  const due = { text: 'update day_counts set next_run_at = $1' };
  // The run that the replica started by itself has ended, or finds that it is not due.
  const runOnce = createCountDays({ database: wallet.database, intervalMs: HOUR_MS, ...chunks });
  return {
    ...wallet,
    async count() {
      await wallet.database.query(due, [wallet.clock.now]);
      await runOnce(wallet.clock.now);
      await wallet.database.query(due, [NEVER]);
    },
  };
}

/** A chunk of this size has at most two of the days of `playDays`. */
const SMALL_CHUNKS = { chunkTransfers: 5 };
const PLAYED = ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-05', '2026-11-06', '2026-11-07', '2026-11-10'];

/** Charges two fees on each day; only the last day is open. Returns the money of each day. */
async function playDays(wallet: TestWallet) {
  const player = await addPlayer(wallet, { balanceCents: 100_00n });
  for (const [index, day] of PLAYED.entries()) {
    wallet.clock.now = new Date(`${day}T12:00:00.000Z`);
    await charge(wallet.client, chargeOf(player, 1_00n));
    await charge(wallet.client, chargeOf(player, BigInt(index + 1)));
  }
  return PLAYED.map((day, index) => ({
    day,
    environment: Environment.LIVE,
    sums: sums(1_00n + BigInt(index + 1), 0n, 0n, 0n, 0n),
  }));
}

/** Makes the count begin again on the day before the first day of `playDays`, and makes it due. */
async function neverCounted({ database, clock }: TestWallet): Promise<void> {
  await database.query({ text: 'delete from program_days' });
  await database.query({ text: 'delete from environment_days' });
  const text = `
    update day_counts set open_from = '2026-10-31', environments_open_from = null, counted_at = null, next_run_at = $1`;
  await database.query({ text }, [clock.now]);
}

async function state({ database }: TestWallet) {
  const [row] = await database.query<{ open_from: string; counted_at: Date | null }>({
    text: 'select open_from::text as open_from, counted_at from day_counts',
  });
  if (row === undefined) throw new Error('day_counts has no row');
  return { openFrom: row.open_from, countedAt: row.counted_at };
}

/** The database of a process that dies in its nth transaction, or right after the commit. */
function dying(
  database: Database,
  { transactions, isCommitted }: { readonly transactions: number; readonly isCommitted: boolean },
): Database {
  let left = transactions;
  const live = () => {
    if (left === 0) throw new Error('the process died');
  };
  return {
    ...database,
    query: async (statement, values) => {
      live();
      return await database.query<never>(statement, values);
    },
    transaction: async (work, options) => {
      const result = await database.transaction(async (tx) => {
        const done = await work(tx);
        left -= 1;
        if (!isCommitted) live();
        return done;
      }, options);
      live();
      return result;
    },
  };
}

const money = async ({ client }: TestWallet, change: Partial<Parameters<TestWallet['client']['getMoney']>[0]> = {}) =>
  ok(
    client.getMoney({
      from: '2026-11-01',
      to: '2026-12-31',
      environment: Environment.UNSPECIFIED,
      limit: 200,
      ...change,
    }),
  );
const sums = (fees: bigint, refunds: bigint, paid: bigint, held: bigint, denied: bigint) => ({
  feesCents: fees,
  refundsCents: refunds,
  paidCents: paid,
  heldCents: held,
  deniedCents: denied,
});

describe('the money of days', () => {
  it('each amount is counted on the UTC day of its own instant, under its program', async () => {
    const wallet = await open();
    wallet.clock.now = new Date('2026-11-20T23:59:59.000Z');
    const programId = newId();
    const player = await addPlayer(wallet, { programId, balanceCents: 100_00n });
    const refunded = chargeOf(player, 2_00n);
    await charge(wallet.client, refunded);
    await charge(wallet.client, chargeOf(player, 1_00n));
    await ok(
      wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, enforcementFlag: true }),
    );
    const [released, denied] = [awardOf(player, 5_00n), awardOf(player, 7_00n)];
    await ok(wallet.client.payAwards({ payments: [released, denied] }));
    wallet.clock.now = new Date('2026-11-21T00:00:00.000Z');
    await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: refunded.transferId, reason: 'voided' }] }));
    const decision = { operator: 'operator', reason: 'checked' };
    await ok(wallet.client.releasePayout({ awardId: released.awardId, ...decision }));
    await ok(wallet.client.denyPayout({ awardId: denied.awardId, ...decision }));
    await wallet.count();

    const answer = await money(wallet);
    expect(answer).toEqual({
      programs: [
        { tenant: { programId, environment: Environment.LIVE }, sums: sums(3_00n, 2_00n, 5_00n, 12_00n, 7_00n) },
      ],
      environments: [
        { environment: Environment.TEST, sums: sums(0n, 0n, 0n, 0n, 0n), keptCents: 0n, heldNowCents: 0n },
        {
          environment: Environment.LIVE,
          sums: sums(3_00n, 2_00n, 5_00n, 12_00n, 7_00n),
          keptCents: -4_00n,
          heldNowCents: 0n,
        },
      ],
      days: [
        { day: '2026-11-20', environment: Environment.LIVE, sums: sums(3_00n, 0n, 0n, 12_00n, 0n) },
        { day: '2026-11-21', environment: Environment.LIVE, sums: sums(0n, 2_00n, 5_00n, 0n, 7_00n) },
      ],
      countedAt: wallet.clock.now,
    });
    expect((await money(wallet, { programId })).programs).toEqual(answer.programs);
    expect((await money(wallet, { programId })).environments).toEqual(answer.environments);
    expect(await money(wallet, { programId: newId() })).toMatchObject({ programs: [], days: [] });
    expect(await money(wallet, { to: '2026-11-20' })).toMatchObject({
      programs: [{ sums: sums(3_00n, 0n, 0n, 12_00n, 0n) }],
      days: [{ day: '2026-11-20' }],
    });
    expect((await money(wallet, { environment: Environment.TEST })).environments).toHaveLength(1);
  });

  it('programs with money are listed newest first, page by page', async () => {
    const wallet = await open();
    const programs: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const programId = newId();
      programs.unshift(programId);
      for (const environment of [Environment.TEST, Environment.LIVE]) {
        const player = await addPlayer(wallet, { programId, environment, balanceCents: 10_00n });
        await charge(wallet.client, chargeOf(player, 1_00n));
      }
    }
    await wallet.count();
    const page = async (beforeProgramId?: string) =>
      (await money(wallet, { limit: 2, ...(beforeProgramId !== undefined && { beforeProgramId }) })).programs.map(
        ({ tenant }) => [tenant?.programId, tenant?.environment],
      );
    const both = (programId: string | undefined) => [
      [programId, Environment.TEST],
      [programId, Environment.LIVE],
    ];
    expect(await page()).toEqual([...both(programs[0]), ...both(programs[1])]);
    expect(await page(programs[1])).toEqual(both(programs[2]));
    expect(await page(programs[2])).toEqual([]);
  });

  it('a day is closed a quarter of an hour after its end', async () => {
    const wallet = await open();
    wallet.clock.now = new Date('2026-11-20T12:00:00.000Z');
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    await charge(wallet.client, chargeOf(player, 1_00n));
    const tamper = (cents: bigint) =>
      wallet.database.query({ text: 'update program_days set fees_cents = $1' }, [cents]);

    wallet.clock.now = new Date('2026-11-21T00:14:59.000Z');
    await wallet.count();
    expect((await state(wallet)).openFrom).toBe('2026-11-20');
    await tamper(9_00n);
    expect(await auditViolations(wallet)).toEqual({});
    wallet.clock.now = new Date('2026-11-21T00:15:00.000Z');
    await wallet.count();
    expect((await state(wallet)).openFrom).toBe('2026-11-21');
    expect((await money(wallet)).days).toMatchObject([{ sums: { feesCents: 1_00n } }]);
    expect(await auditViolations(wallet)).toEqual({});

    const violations = { closed_days_match_the_ledger: 1n, days_of_environments_are_sums_of_programs: 1n };
    await tamper(9_00n);
    expect(await auditViolations(wallet)).toEqual(violations);
    await wallet.database.query({ text: 'delete from program_days' });
    expect(await auditViolations(wallet)).toEqual(violations);
    await wallet.database.query({ text: 'delete from environment_days' });
    expect(await auditViolations(wallet)).toEqual({ closed_days_match_the_ledger: 1n });
    await wallet.count();
    expect((await money(wallet)).days).toEqual([]);
  });

  it('a day that the previous release closed is summed by the next run', async () => {
    const wallet = await open();
    wallet.clock.now = new Date('2026-11-20T12:00:00.000Z');
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    await charge(wallet.client, chargeOf(player, 1_00n));
    await wallet.count();
    await charge(wallet.client, chargeOf(player, 2_00n));
    // The rows that the previous release leaves behind when it counts the day for the last time.
    await wallet.database.query({ text: 'update program_days set fees_cents = 300' });
    await wallet.database.query({ text: `update day_counts set open_from = '2026-11-22'` });
    expect(await auditViolations(wallet)).toEqual({});
    wallet.clock.now = new Date('2026-11-22T12:00:00.000Z');
    await wallet.count();
    expect((await money(wallet)).days).toMatchObject([{ day: '2026-11-20', sums: { feesCents: 3_00n } }]);
    expect(await auditViolations(wallet)).toEqual({});
  });

  it('only the replica that holds the lease counts', async () => {
    const wallet = await open();
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    await charge(wallet.client, chargeOf(player, 1_00n));
    const { now } = wallet.clock;
    const at = (ms: number) => new Date(now.getTime() + ms);
    await wallet.database.query({ text: 'update day_counts set next_run_at = $1' }, [now]);
    expect(await leaseDayCount(wallet.database, now, at(1_000))).toEqual({
      leasedUntil: at(1_000),
      openFrom: expect.any(String),
    });
    expect(await leaseDayCount(wallet.database, now, at(1_000))).toBeNull();
    // The lease runs out, and another replica takes it.
    expect(await leaseDayCount(wallet.database, at(1_000), at(2_000))).not.toBeNull();
    const late = countDays(
      wallet.database,
      { leasedUntil: at(1_000), openFrom: '1970-01-01' },
      { now, closedBefore: '2026-11-21', nextRunAt: () => at(3_000) },
    );
    await expect(late).rejects.toThrow('another replica');
    expect((await money(wallet)).days).toEqual([]);
    expect(pauseAfterRunMs(60_000, 200)).toBe(60_000);
    expect(pauseAfterRunMs(60_000, 10_000)).toBe(200_000);
  });

  it('a fee that commits after the end of its day is counted on that day', async () => {
    const wallet = await open();
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    wallet.clock.now = new Date('2026-11-20T23:59:59.999Z');
    await charge(wallet.client, chargeOf(player, 1_00n));
    wallet.clock.now = new Date('2026-11-21T00:14:00.000Z');
    await wallet.count();
    // The fee is dated by the clock, before midnight.
    wallet.clock.now = new Date('2026-11-20T23:59:59.999Z');
    await charge(wallet.client, chargeOf(player, 2_00n));
    wallet.clock.now = new Date('2026-11-21T00:15:00.000Z');
    await wallet.count();
    expect((await money(wallet)).days).toMatchObject([{ day: '2026-11-20', sums: { feesCents: 3_00n } }]);
    expect(await auditViolations(wallet)).toEqual({});
  });

  it('a ledger that is larger than a chunk is closed some days at a time', async () => {
    const wallet = await open({ ...SMALL_CHUNKS, chunksMs: 0 });
    const expected = await playDays(wallet);
    const steps = ['1970-01-01'];
    for (let isCounted = false; !isCounted; ) {
      await wallet.count();
      const { openFrom, countedAt } = await state(wallet);
      steps.push(openFrom);
      isCounted = countedAt !== null;
      expect((await money(wallet)).days).toEqual(expected.filter(({ day }) => isCounted || day < openFrom));
    }
    expect(steps.at(-1)).toBe('2026-11-10');
    const daysOfSteps = steps.map((from, at) => PLAYED.filter((day) => day >= from && day < (steps[at + 1] ?? from)));
    expect(daysOfSteps.flat()).toHaveLength(6);
    expect(Math.max(...daysOfSteps.map(({ length }) => length))).toBe(2);
    // Decades without transfers take few chunks.
    expect(steps.length).toBeLessThan(40);
    expect(await auditViolations(wallet)).toEqual({});
  });

  it('a process that dies in a chunk or between two chunks loses at most one chunk', async () => {
    const wallet = await open(SMALL_CHUNKS);
    const expected = await playDays(wallet);
    const { now } = wallet.clock;
    const afterLease = new Date(now.getTime() + 600_000);
    const another = createCountDays({ database: wallet.connect(), intervalMs: HOUR_MS, ...SMALL_CHUNKS });
    const closed: string[] = [];
    for (const death of [
      { transactions: 1, isCommitted: false },
      { transactions: 1, isCommitted: true },
      { transactions: 2, isCommitted: false },
      { transactions: 2, isCommitted: true },
      { transactions: 3, isCommitted: false },
    ]) {
      await neverCounted(wallet);
      const database = dying(wallet.database, death);
      const run = createCountDays({ database, intervalMs: HOUR_MS, ...SMALL_CHUNKS });
      await expect(run(now)).rejects.toThrow('the process died');
      const { openFrom } = await state(wallet);
      closed.push(openFrom);
      expect((await money(wallet)).days).toEqual(expected.filter(({ day }) => day < openFrom));
      await another(now);
      expect((await state(wallet)).openFrom).toBe(openFrom);
      await another(afterLease);
      expect((await money(wallet)).days).toEqual(expected);
      expect(await auditViolations(wallet)).toEqual({});
    }
    expect(closed).toEqual(['2026-10-31', '2026-11-03', '2026-11-03', '2026-11-06', '2026-11-06']);
  });

  it('two replicas never count the same chunk', async () => {
    const wallet = await open();
    const expected = await playDays(wallet);
    await neverCounted(wallet);
    const { now } = wallet.clock;
    const at = (ms: number) => new Date(now.getTime() + ms);
    const replicas = [wallet.database, wallet.connect()].map((database) =>
      createCountDays({ database, intervalMs: HOUR_MS, ...SMALL_CHUNKS, chunksMs: 0 }),
    );
    while ((await state(wallet)).countedAt === null) {
      await wallet.database.query({ text: 'update day_counts set next_run_at = $1' }, [now]);
      await Promise.all(replicas.map((run) => run(now)));
    }
    expect((await money(wallet)).days).toEqual(expected);

    // The first replica pauses until its lease has run out, and the second one closes its days.
    await wallet.database.query({ text: `update day_counts set open_from = '2026-10-31', next_run_at = $1` }, [now]);
    const [first, second] = [
      await leaseDayCount(wallet.database, now, at(1_000)),
      await leaseDayCount(wallet.database, at(1_000), at(2_000)),
    ];
    if (first === null || second === null) throw new Error('no lease');
    await closeDays(wallet.database, second, { until: '2026-11-03', leasedUntil: at(3_000) });
    const late = closeDays(wallet.database, first, { until: '2026-11-08', leasedUntil: at(4_000) });
    await expect(late).rejects.toThrow('another replica');
    expect((await state(wallet)).openFrom).toBe('2026-11-03');
    expect((await money(wallet)).days).toEqual(expected);
    expect(await auditViolations(wallet)).toEqual({});
  });

  it('the days sum to what the houses keep, for any sequence of transfers', async () => {
    const wallet = await open({ chunkTransfers: 2 });
    const players: TestPlayer[] = [];
    for (const environment of [Environment.TEST, Environment.LIVE]) {
      for (let count = 0; count < 2; count += 1) {
        players.push(await addPlayer(wallet, { environment, balanceCents: 5_000_00n }));
      }
    }
    const steps = fc.array(
      fc.record({
        what: fc.constantFrom('fee', 'refund', 'award', 'purse', 'count', 'night'),
        who: fc.nat({ max: players.length - 1 }),
        cents: fc.bigInt({ min: 1n, max: 3_00n }),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (play) => {
        const charged: string[] = [];
        for (const { what, who, cents } of play) {
          const player = players[who];
          if (player === undefined) continue;
          if (what === 'night') wallet.clock.advance(DAY_MS / 2);
          else if (what === 'count') await wallet.count();
          else if (what === 'award') await ok(wallet.client.payAwards({ payments: [awardOf(player, cents)] }));
          else if (what === 'purse') await ok(wallet.client.payAwards({ payments: [purseOf(player, cents)] }));
          else if (what === 'fee') {
            const fee = chargeOf(player, cents);
            if ((await charge(wallet.client, fee)) === 'posted') charged.push(fee.transferId);
          } else {
            const feeTransferId = charged.pop();
            if (feeTransferId === undefined) continue;
            await ok(wallet.client.refundFees({ refunds: [{ feeTransferId, reason: 'expired' }] }));
          }
        }
        await wallet.count();
        const { environments, days, programs } = await money(wallet, { to: '2027-12-31' });
        for (const { environment, sums: whole, keptCents } of environments) {
          const [ofDays, ofPrograms] = [
            days.filter((one) => one.environment === environment),
            programs.filter(({ tenant }) => tenant?.environment === environment),
          ];
          const kept = (of: readonly { readonly sums: typeof whole }[]) =>
            of.reduce((sum, one) => {
              const { feesCents = 0n, refundsCents = 0n, paidCents = 0n } = one.sums ?? {};
              return sum + feesCents - refundsCents - paidCents;
            }, 0n);
          expect([kept(ofDays), kept(ofPrograms), kept([{ sums: whole }])]).toEqual([keptCents, keptCents, keptCents]);
        }
        expect(await auditViolations(wallet)).toEqual({});
      }),
      { numRuns: 8 },
    );
  });
});
