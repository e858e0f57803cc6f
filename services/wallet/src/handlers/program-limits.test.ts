/**
 * The limits of programs in the service: exact over replicas and parallel batches, and equal to the
 * rules of the domain over generated histories.
 */
import { parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type AwardPayment, type Payout, PayoutStatus } from '@laurel/proto/wallet';
import { newId } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ELIGIBLE } from '../domain/example.ts';
import { exceedsFeeLimit } from '../domain/fee-limit.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import { decideHold, NO_PAYOUTS, VELOCITY_WINDOW_MS } from '../domain/payout-hold.ts';
import { postOptimisticFees } from '../repository/optimistic-fees.ts';
import { payOptimistically } from '../repository/optimistic-payouts.ts';
import {
  addPlayer,
  awardOf,
  balanceOf,
  charge,
  chargeOf,
  chargeResultOf,
  countOptimisticFees,
  countOptimisticPayouts,
  DEFAULT_LIMITS,
  ok,
  purseOf,
  type TestPlayer,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const { LIVE, TEST } = Environment;

const wallet = useTestWallet();
let replica: WalletClient;
let connections: readonly Database[];

beforeAll(async () => {
  replica = await wallet.startReplica();
  connections = [wallet.connect(), wallet.connect(), wallet.connect()];
});

type Limits = { payoutLimitCents?: bigint; feeLimitCents?: bigint };

async function setLimits(programId: string, environment: Environment, limits: Limits): Promise<void> {
  const clear = { clearPayoutLimit: false, clearFeeLimit: false };
  await ok(wallet.client.setProgramLimits({ tenant: { programId, environment }, ...clear, ...limits }));
}

async function pay(payment: AwardPayment, client = wallet.client): Promise<Payout> {
  const { payouts } = await ok(client.payAwards({ payments: [payment] }));
  if (payouts[0] === undefined) throw new Error('no payout was answered');
  return payouts[0];
}

const reasonOf = ({ status, reason }: Payout) => (status === PayoutStatus.PAID ? 'paid' : reason);

function addPlayers(count: number, options: Parameters<typeof addPlayer>[1]): Promise<readonly TestPlayer[]> {
  return Promise.all(Array.from({ length: count }, () => addPlayer(wallet, options)));
}

function sumOf(payouts: readonly Payout[]): bigint {
  return payouts.reduce((sum, { status, amountCents }) => (status === PayoutStatus.PAID ? sum + amountCents : sum), 0n);
}

describe('what a program pays out in 24 hours', () => {
  it('250 parallel awards at two replicas pay out exactly the program’s limit in live', async () => {
    const programId = newId();
    const players = await addPlayers(250, { programId });
    const payouts = await Promise.all(
      players.map((player, index) => pay(awardOf(player, 50_00n), index % 2 === 0 ? wallet.client : replica)),
    );
    const ends = payouts.map(reasonOf);
    expect(ends.filter((end) => end === 'paid')).toHaveLength(100);
    expect(ends.filter((end) => end === 'program_velocity')).toHaveLength(150);
    expect(sumOf(payouts)).toBe(5_000_00n);
    const { limits } = await ok(replica.getProgramLimits({ programId }));
    expect(limits).toEqual([
      { tenant: { programId, environment: TEST }, paidCents: 0n },
      {
        tenant: { programId, environment: LIVE },
        payoutLimitCents: 5_000_00n,
        feeLimitCents: 200_00n,
        paidCents: 5_000_00n,
      },
    ]);
  });

  it('awards of several programs in the same parallel batches are paid up to each program’s own limit', async () => {
    const programs = [newId(), newId(), newId()];
    const players = await Promise.all(programs.map((programId) => addPlayers(30, { programId })));
    await setLimits(programs[1] ?? '', LIVE, { payoutLimitCents: 55_00n });
    await setLimits(programs[2] ?? '', LIVE, { payoutLimitCents: 0n });
    const payouts = await Promise.all(
      players.map((own) =>
        Promise.all(
          own.map((player, index) => pay(awardOf(player, 10_00n), index % 2 === 0 ? wallet.client : replica)),
        ),
      ),
    );
    expect(payouts.map(sumOf)).toEqual([300_00n, 50_00n, 0n]);
  });

  it('earlier payouts count towards a limit that an operator sets in test', async () => {
    const programId = newId();
    const [first, second, third] = await addPlayers(3, { programId, environment: TEST });
    if (first === undefined || second === undefined || third === undefined) throw new Error('no players');
    for (const player of [first, second]) {
      for (let count = 0; count < 5; count += 1) expect(reasonOf(await pay(awardOf(player, 100_00n)))).toBe('paid');
    }
    await setLimits(programId, TEST, { payoutLimitCents: 1_000_01n });
    expect(reasonOf(await pay(awardOf(third, 2n)))).toBe('program_velocity');
    expect(reasonOf(await pay(awardOf(third, 1n)))).toBe('paid');
    await ok(
      wallet.client.setProgramLimits({
        tenant: { programId, environment: TEST },
        clearPayoutLimit: true,
        clearFeeLimit: false,
      }),
    );
    expect(reasonOf(await pay(awardOf(third, 100_00n)))).toBe('paid');
  });

  it('a payout of a program stops counting when it is exactly 24 hours old', async () => {
    const programId = newId();
    const [first, second, third] = await addPlayers(3, { programId });
    if (first === undefined || second === undefined || third === undefined) throw new Error('no players');
    await setLimits(programId, LIVE, { payoutLimitCents: 20_00n });
    expect(reasonOf(await pay(awardOf(first, 15_00n)))).toBe('paid');
    wallet.clock.advance(HOUR_MS);
    expect(reasonOf(await pay(awardOf(second, 5_00n)))).toBe('paid');
    wallet.clock.advance(23 * HOUR_MS - 1);
    expect(reasonOf(await pay(awardOf(third, 1_00n)))).toBe('program_velocity');
    wallet.clock.advance(1);
    expect(reasonOf(await pay(awardOf(third, 15_01n)))).toBe('program_velocity');
    expect(reasonOf(await pay(awardOf(third, 15_00n)))).toBe('paid');
  });

  it('a purse and a released award are paid beyond the program’s limit, but count towards it', async () => {
    const programId = newId();
    const [first, second] = await addPlayers(2, { programId });
    if (first === undefined || second === undefined) throw new Error('no players');
    await setLimits(programId, LIVE, { payoutLimitCents: 10_00n });
    const held = await pay(awardOf(first, 10_01n));
    expect(reasonOf(held)).toBe('program_velocity');
    expect(await balanceOf(wallet, first)).toBe(0n);
    expect(reasonOf(await pay(awardOf(second, 9_00n)))).toBe('paid');
    expect(reasonOf(await pay(purseOf(second, 30_00n)))).toBe('paid');
    expect(reasonOf(await pay(awardOf(second, 1_00n)))).toBe('program_velocity');
    await setLimits(programId, LIVE, { payoutLimitCents: 49_00n });
    await ok(wallet.client.releasePayout({ awardId: held.awardId }));
    expect(reasonOf(await pay(awardOf(second, 1n)))).toBe('program_velocity');
  });

  it('a payout that is released while awards are paid counts towards each later award', async () => {
    const programId = newId();
    const players = await addPlayers(40, { programId });
    const [flagged] = await addPlayers(1, { programId });
    if (flagged === undefined) throw new Error('no player');
    await ok(
      wallet.client.updateAccount({
        accountId: flagged.accountId,
        clearSelfExclusion: false,
        underInvestigation: true,
      }),
    );
    const held = await Promise.all([1, 2, 3].map(() => pay(awardOf(flagged, 10_00n))));
    await setLimits(programId, LIVE, { payoutLimitCents: 200_00n });
    const [payouts] = await Promise.all([
      Promise.all(players.map((player, index) => pay(awardOf(player, 10_00n), index % 2 ? wallet.client : replica))),
      Promise.all(held.map(({ awardId }) => ok(replica.releasePayout({ awardId })))),
    ]);
    expect(sumOf(payouts)).toBeLessThanOrEqual(200_00n);
    expect(sumOf(payouts)).toBeGreaterThanOrEqual(170_00n);
    const [late] = await addPlayers(1, { programId });
    if (late !== undefined) expect(reasonOf(await pay(awardOf(late, 10_00n)))).toBe('program_velocity');
  });
});

describe('the statement that pays, and the limit of the program', () => {
  const amount = fc.integer({ min: 1, max: 12 }).map((units) => BigInt(units) * 1_00n);
  const history = fc.record({
    environment: fc.constantFrom(LIVE, TEST),
    limitCents: fc.option(fc.integer({ min: 0, max: 40 }).map((units) => BigInt(units) * 1_00n)),
    earlier: fc.array(
      fc.record({
        ageMs: fc.constantFrom(
          ...[0, 1, VELOCITY_WINDOW_MS - 1, VELOCITY_WINDOW_MS, VELOCITY_WINDOW_MS + 1],
          ...[VELOCITY_WINDOW_MS + MINUTE_MS, VELOCITY_WINDOW_MS + MINUTE_MS + 1, VELOCITY_WINDOW_MS + 3 * MINUTE_MS],
        ),
        amountCents: amount,
        end: fc.constantFrom('paid', 'paid', 'held', 'released'),
      }),
      { maxLength: 5 },
    ),
    wins: fc.array(fc.record({ amountCents: amount, isPurse: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  });
  const limits = { count: 5, amountCents: cents(500_00n) };

  it('the optimistic statement never pays a win that the rule holds', async () => {
    const outcomes = { paid: 0, held: 0 };
    await fc.assert(
      fc.asyncProperty(history, async ({ environment, limitCents, earlier, wins }) => {
        const programId = newId();
        const name = environment === LIVE ? 'live' : 'test';
        const players = await addPlayers(wins.length, { programId, environment, balanceCents: 1_00n });
        const [other] = await addPlayers(1, { programId, environment });
        if (other === undefined) throw new Error('no player');
        wallet.clock.advance(3 * VELOCITY_WINDOW_MS);
        const { now } = wallet.clock;
        let paidCents = 0n;
        for (const { ageMs, amountCents, end } of earlier.toSorted((a, b) => b.ageMs - a.ageMs)) {
          wallet.clock.now = new Date(now.getTime() - ageMs);
          const { accountId } = other;
          const change = { accountId, clearSelfExclusion: false, enforcementFlag: end !== 'paid' };
          await ok(wallet.client.updateAccount(change));
          const payout = await pay(purseOf(other, amountCents));
          if (end === 'released') await ok(wallet.client.releasePayout({ awardId: payout.awardId }));
          if (end !== 'held' && ageMs < VELOCITY_WINDOW_MS) paidCents += amountCents;
        }
        wallet.clock.now = now;
        // Setting a limit creates the program's row, as the first payout in live does.
        if (limitCents !== null || environment === LIVE) {
          await setLimits(programId, environment, limitCents === null ? {} : { payoutLimitCents: limitCents });
        }
        const limit = limitCents ?? (environment === LIVE ? DEFAULT_LIMITS.payoutCents : null);

        const payments = wins.map(({ amountCents, isPurse }, index) => {
          const payment = (isPurse ? purseOf : awardOf)(players[index] as TestPlayer, amountCents);
          const { awardId, attemptId, roundId = '', accountId } = payment;
          const win = isPurse ? ({ kind: 'purse', roundId } as const) : ({ kind: 'award', attemptId } as const);
          return { ...win, ...parseTenant(payment.tenant), awardId, accountId, amountCents: cents(amountCents) };
        });
        const ledgerIds = await payOptimistically(
          connections[0] as Database,
          payments.map((payment) => ({ payment, mostRecent: null })),
          { now, defaults: DEFAULT_LIMITS },
        );
        const isPaid = payments.map(({ accountId }) => ledgerIds.has(playerLedgerId(accountId, name)));

        const unflagged = { enforcementFlag: false, underInvestigation: false, sandboxHold: false };
        const isHeld = (payment: (typeof payments)[number], before: bigint) => {
          const program = { paidCents: cents(before), limitCents: limit === null ? null : cents(limit) };
          return decideHold({ ...payment, ...unflagged, recent: NO_PAYOUTS, program, limits }) !== null;
        };
        const total = payments.reduce((sum, { amountCents }) => sum + amountCents, 0n);
        let paid = 0n;
        payments.forEach((payment, index) => {
          if (isPaid[index]) paid += payment.amountCents;
          outcomes[isPaid[index] ? 'paid' : 'held'] += 1;
          // The batch may be decided in any order. A win that is held even as the first of the
          // batch must be held; one that is paid even as the last must be paid.
          if (isHeld(payment, paidCents)) expect(isPaid[index]).toBe(false);
          if (!isHeld(payment, paidCents + total - payment.amountCents)) expect(isPaid[index]).toBe(true);
        });
        if (payments.length === 1)
          expect(isPaid).toEqual([!isHeld(payments[0] as (typeof payments)[number], paidCents)]);
        const awards = payments.filter(({ kind }, index) => kind === 'award' && isPaid[index]);
        if (limit !== null && payments.every(({ kind }) => kind === 'award') && awards.length > 0) {
          expect(paidCents + paid).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 60 },
    );
    expect(outcomes.paid).toBeGreaterThan(10);
    expect(outcomes.held).toBeGreaterThan(10);
  });

  it('a statement that waited for its program’s row counts the payouts made meanwhile', async () => {
    const programId = newId();
    const players = await addPlayers(60, { programId, balanceCents: 1_00n });
    await setLimits(programId, LIVE, { payoutLimitCents: 20_00n });
    const paid = await Promise.all(
      players.map(async (player, index) => {
        const { awardId, attemptId, accountId, tenant } = awardOf(player, 1_00n);
        const payment = { kind: 'award', attemptId, ...parseTenant(tenant), awardId, accountId } as const;
        return await payOptimistically(
          connections[index % 3] as Database,
          [{ payment: { ...payment, amountCents: cents(1_00n) }, mostRecent: null }],
          { now: wallet.clock.now, defaults: DEFAULT_LIMITS },
        );
      }),
    );
    // Exactly 20 awards are paid: no statement left one out because it had to wait.
    expect(paid.filter(({ size }) => size === 1)).toHaveLength(20);
  });

  it('in live every award of a program after the first is paid in the optimistic statement', async () => {
    const programId = newId();
    const players = await addPlayers(5, { programId, balanceCents: 1_00n });
    const before = await countOptimisticPayouts();
    for (const player of players) expect(reasonOf(await pay(awardOf(player, 1_00n)))).toBe('paid');
    expect(await countOptimisticPayouts()).toBe(before + 4);
  });
});

describe('what a program charges an account in 24 hours', () => {
  async function chargeable({ player }: TestPlayer): Promise<bigint | undefined> {
    return (await ok(replica.checkEligibility({ player, requirements: [] }))).chargeableCents;
  }

  it('parallel fees of one account at two replicas are posted exactly up to the limit', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    const ends = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        charge(index % 2 === 0 ? wallet.client : replica, chargeOf(player, 9_00n)),
      ),
    );
    expect(ends.filter((end) => end === 'posted')).toHaveLength(22);
    expect(ends.filter((end) => end === 'blocked')).toHaveLength(78);
    expect(await balanceOf(wallet, player)).toBe(1_000_00n - 22n * 9_00n);
    expect(await chargeable(player)).toBe(2_00n);
    expect(await charge(replica, chargeOf(player, 2_01n))).toBe('blocked');
    expect(await charge(replica, chargeOf(player, 2_00n))).toBe('posted');
    expect(await chargeable(player)).toBe(0n);
  });

  it('the fees of one call are posted only up to the limit', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    const charges = Array.from({ length: 5 }, () => chargeOf(player, 60_00n));
    const { results } = await ok(wallet.client.chargeFees({ charges }));
    expect(results.map(chargeResultOf).toSorted()).toEqual(['blocked', 'blocked', 'posted', 'posted', 'posted']);
  });

  it('a refunded fee does not count towards the limit, even for a cached player', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    const fees = [chargeOf(player, 100_00n), chargeOf(player, 100_00n)];
    for (const fee of fees) expect(await charge(wallet.client, fee)).toBe('posted');
    const refunds = fees.map(({ transferId }) => ({ feeTransferId: transferId, reason: 'expired' }));
    await ok(wallet.client.refundFees({ refunds }));
    expect(await chargeable(player)).toBe(200_00n);
    expect(await charge(wallet.client, chargeOf(player, 200_00n))).toBe('posted');
    expect(await charge(wallet.client, chargeOf(player, 1n))).toBe('blocked');
  });

  it('a fee stops counting when it is exactly 24 hours old', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    expect(await charge(wallet.client, chargeOf(player, 200_00n))).toBe('posted');
    wallet.clock.advance(VELOCITY_WINDOW_MS - 1);
    expect(await charge(wallet.client, chargeOf(player, 1n))).toBe('blocked');
    wallet.clock.advance(1);
    expect(await charge(wallet.client, chargeOf(player, 1n))).toBe('posted');
  });

  it('another program charges the same account up to its own limit', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    expect(await charge(wallet.client, chargeOf(player, 200_00n))).toBe('posted');
    const other = { tenant: { programId: newId(), environment: LIVE }, playerRef: 'elsewhere' };
    await ok(wallet.client.putPlayerLink({ player: other, email: player.email }));
    expect(await charge(wallet.client, chargeOf({ ...player, player: other }, 200_00n))).toBe('posted');
    expect(await charge(wallet.client, chargeOf({ ...player, player: other }, 1n))).toBe('blocked');
    const { charges } = await ok(wallet.client.getAccount({ accountId: player.accountId }));
    expect(charges.map(({ tenant, chargedCents }) => [tenant, chargedCents])).toEqual(
      [player.player.tenant, other.tenant]
        .toSorted((a, b) => ((a?.programId ?? '') < (b?.programId ?? '') ? -1 : 1))
        .map((tenant) => [tenant, 200_00n]),
    );
  });

  it('two refs of one program that name one account share its limit', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_000_00n });
    const second = { ...player.player, playerRef: `ref-${newId()}` };
    await ok(wallet.client.putPlayerLink({ player: second, email: player.email }));
    expect(await charge(wallet.client, chargeOf(player, 150_00n))).toBe('posted');
    expect(await charge(wallet.client, chargeOf({ ...player, player: second }, 50_01n))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf({ ...player, player: second }, 50_00n))).toBe('posted');
  });

  it('the lower of the program’s limit and the account’s own limit applies, in live and in test', async () => {
    const programId = newId();
    for (const environment of [LIVE, TEST]) {
      const player = await addPlayer(wallet, { programId, environment, balanceCents: 1_000_00n });
      const { accountId } = player;
      const limit = (feeLimitCents: bigint) =>
        ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, feeLimitCents }));
      expect((await limit(5_00n)).account?.feeLimitCents).toBe(5_00n);
      expect(await chargeable(player)).toBe(5_00n);
      expect(await charge(wallet.client, chargeOf(player, 5_01n))).toBe('blocked');
      expect(await charge(wallet.client, chargeOf(player, 5_00n))).toBe('posted');
      await setLimits(programId, environment, { feeLimitCents: 7_00n });
      await limit(500_00n);
      expect(await charge(wallet.client, chargeOf(player, 2_01n))).toBe('blocked');
      expect(await charge(wallet.client, chargeOf(player, 2_00n))).toBe('posted');
      const cleared = await ok(
        wallet.client.updateAccount({ accountId, clearSelfExclusion: false, clearFeeLimit: true }),
      );
      expect(cleared.account?.feeLimitCents).toBeUndefined();
      expect(await charge(wallet.client, chargeOf(player, 1n))).toBe('blocked');
    }
  });

  it('the default fee limit applies in live and not in test', async () => {
    for (const environment of [LIVE, TEST]) {
      const player = await addPlayer(wallet, { environment, balanceCents: 1_000_00n });
      expect(await charge(wallet.client, chargeOf(player, 1_00n))).toBe('posted');
      const before = await countOptimisticFees();
      for (let count = 0; count < 3; count += 1) {
        expect(await charge(wallet.client, chargeOf(player, 1_00n))).toBe('posted');
      }
      expect(await countOptimisticFees()).toBe(before + 3);
      expect(await charge(wallet.client, chargeOf(player, 300_00n))).toBe(environment === LIVE ? 'blocked' : 'posted');
      expect(await chargeable(player)).toBe(environment === LIVE ? 196_00n : undefined);
    }
  });

  it('the optimistic statement posts exactly the fees that the rule permits, over any history without a refund', async () => {
    const amounts = fc.integer({ min: 1, max: 10 }).map((units) => BigInt(units) * 1_00n);
    const limit = fc.option(fc.integer({ min: 0, max: 20 }).map((units) => BigInt(units) * 1_00n));
    const outcomes = { posted: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(LIVE, TEST),
        limit,
        limit,
        amounts,
        fc.array(
          fc.record({ ageMs: fc.constantFrom(0, VELOCITY_WINDOW_MS - 1, VELOCITY_WINDOW_MS), amountCents: amounts }),
          {
            maxLength: 4,
          },
        ),
        async (environment, programLimit, ownLimit, feeCents, earlier) => {
          const player = await addPlayer(wallet, { environment, balanceCents: 1_000_00n });
          const { accountId } = player;
          const { programId, environment: name } = parseTenant(player.player.tenant);
          wallet.clock.advance(3 * VELOCITY_WINDOW_MS);
          const { now } = wallet.clock;
          let chargedCents = 0n;
          for (const { ageMs, amountCents } of earlier.toSorted((a, b) => b.ageMs - a.ageMs)) {
            wallet.clock.now = new Date(now.getTime() - ageMs);
            expect(await charge(wallet.client, chargeOf(player, amountCents))).toBe('posted');
            if (ageMs < VELOCITY_WINDOW_MS) chargedCents += amountCents;
          }
          wallet.clock.now = now;
          if (programLimit !== null) await setLimits(programId, environment, { feeLimitCents: programLimit });
          if (ownLimit !== null) {
            await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, feeLimitCents: ownLimit }));
          }
          const limitOfProgram = programLimit ?? (environment === LIVE ? DEFAULT_LIMITS.feeCents : null);
          const lowest = lowerOf(limitOfProgram, ownLimit);
          const { transferId, attemptId } = chargeOf(player, feeCents);
          const ledgerId = playerLedgerId(accountId, name);
          const fee = {
            ...{ transferId, attemptId, programId, environment: name, accountId, feeCents: cents(feeCents) },
            playerRef: player.player.playerRef,
            requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
          };
          const eligibility = { ...ELIGIBLE, dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 1 };
          const posted = await postOptimisticFees(
            connections[0] as Database,
            [{ accountId, eligibility, charge: fee, ledgerId }],
            { now, defaults: DEFAULT_LIMITS },
          );
          const exceeds = exceedsFeeLimit({ chargedCents: cents(chargedCents), limitCents: lowest }, cents(feeCents));
          outcomes[exceeds ? 'left' : 'posted'] += 1;
          expect(posted.has(ledgerId)).toBe(!exceeds);
          expect(await charge(wallet.client, chargeOf(player, feeCents, { transferId, attemptId }))).toBe(
            exceeds ? 'blocked' : 'posted',
          );
        },
      ),
      { numRuns: 60 },
    );
    expect(outcomes.posted).toBeGreaterThan(5);
    expect(outcomes.left).toBeGreaterThan(5);
  });
});

function lowerOf(a: bigint | null, b: bigint | null): Cents | null {
  if (a === null || b === null) return a === null && b === null ? null : cents(a ?? b ?? 0n);
  return cents(a < b ? a : b);
}
