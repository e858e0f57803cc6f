/** The money of days agrees with the ledger, whatever was played, when and in which order. */
import { Environment } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { pauseAfterRunMs } from '../domain/counted-day.ts';
import { countDays, leaseDayCount } from '../repository/program-days.ts';
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

async function open(): Promise<Played> {
  const wallet = wallets.use(await openTestWallet({ MONEY_COUNT_INTERVAL_SECONDS: '3600' }));
  const due = { text: 'update day_counts set next_run_at = $1' };
  // The run with which the replica started has ended or finds itself not due.
  const runOnce = createCountDays({ database: wallet.database, intervalMs: HOUR_MS });
  return {
    ...wallet,
    async count() {
      await wallet.database.query(due, [wallet.clock.now]);
      await runOnce(wallet.clock.now);
      await wallet.database.query(due, [NEVER]);
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
    const openFrom = async () =>
      (await wallet.database.query<{ day: string }>({ text: 'select open_from::text as day from day_counts' }))[0]?.day;
    const tamper = (cents: bigint) =>
      wallet.database.query({ text: 'update program_days set fees_cents = $1' }, [cents]);

    wallet.clock.now = new Date('2026-11-21T00:14:59.000Z');
    await wallet.count();
    expect(await openFrom()).toBe('2026-11-20');
    await tamper(9_00n);
    expect(await auditViolations(wallet)).toEqual({});
    wallet.clock.now = new Date('2026-11-21T00:15:00.000Z');
    await wallet.count();
    expect(await openFrom()).toBe('2026-11-21');
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
    // What the previous release leaves behind when it counts the day for the last time.
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
    expect(await leaseDayCount(wallet.database, now, at(1_000))).toEqual({ openFrom: expect.any(String) });
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

  it('the days sum to what the houses keep, for any sequence of transfers', async () => {
    const wallet = await open();
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
