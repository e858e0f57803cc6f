/**
 * Compares the statement that pays with the domain's rule that holds payouts, over generated
 * histories and under a race. Both must decide alike.
 */
import { parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { playerLedgerId } from '../domain/ledger.ts';
import type { PayoutRequest } from '../domain/payout-decision.ts';
import {
  decideHold,
  maxRecentPayouts,
  NO_PAYOUTS,
  NO_PROGRAM_LIMIT,
  VELOCITY_WINDOW_MS,
  withPayout,
} from '../domain/payout-hold.ts';
import { payOptimistically } from '../repository/optimistic-payouts.ts';
import { openPrograms } from '../repository/program-limits.ts';
import {
  addPlayer,
  awardOf,
  balanceOf,
  chargeOf,
  countOptimisticPayouts,
  DEFAULT_LIMITS,
  ok,
  purseOf,
  type TestPlayer,
  useTestWallet,
} from '../wallet.fixture.ts';
import { createAwardPaymentBatches } from './post-payouts.ts';

const LIMITS = { count: 3, amountCents: cents(20_00n) };

const wallet = useTestWallet();
let holder: Database;
let waiter: Database;

beforeAll(async () => {
  [holder, waiter] = [wallet.connect(), wallet.connect()];
});

function requestOf(player: TestPlayer, kind: PayoutRequest['kind'], amount: bigint): PayoutRequest {
  const { awardId, attemptId, roundId, accountId, tenant } = (kind === 'award' ? awardOf : purseOf)(player, amount);
  return {
    ...(kind === 'award' ? { kind, attemptId } : { kind, roundId: roundId ?? '' }),
    ...parseTenant(tenant),
    awardId,
    accountId,
    amountCents: cents(amount),
  };
}

/** The requests that the statement paid. */
async function pay(...payments: readonly PayoutRequest[]): Promise<readonly boolean[]> {
  const payouts = payments.map((payment) => ({
    payment,
    mostRecent: maxRecentPayouts({ ...payment, limits: LIMITS }),
  }));
  await openPrograms(wallet.database, payments);
  const paid = await payOptimistically(waiter, payouts, { now: wallet.clock.now, defaults: DEFAULT_LIMITS });
  return payments.map(({ accountId, environment }) => paid.has(playerLedgerId(accountId, environment)));
}

describe('the optimistic statement of payouts', () => {
  const amount = fc.integer({ min: 1, max: 25 }).map((units) => BigInt(units) * 1_00n);
  const history = fc.record({
    environment: fc.constantFrom(Environment.LIVE, Environment.TEST),
    kind: fc.constantFrom('award' as const, 'award' as const, 'purse' as const),
    amountCents: amount,
    enforcementFlag: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
    underInvestigation: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
    sandboxHold: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.constant(true)),
    earlier: fc.array(
      fc.record({
        ageMs: fc.constantFrom(0, 1, VELOCITY_WINDOW_MS - 1, VELOCITY_WINDOW_MS, VELOCITY_WINDOW_MS + 1),
        amountCents: amount.map((cents) => cents / 2n),
        isHeld: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.constant(true)),
      }),
      { maxLength: 4 },
    ),
  });

  it('the statement pays exactly the wins that the rule does not hold, over any history of payouts', async () => {
    const outcomes = { paid: 0, held: 0 };
    await fc.assert(
      fc.asyncProperty(history, async ({ environment, earlier, sandboxHold, ...win }) => {
        const player = await addPlayer(wallet, { environment, balanceCents: 1_00n });
        const flag = (fields: { enforcementFlag: boolean; underInvestigation: boolean }) =>
          ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...fields }));
        wallet.clock.advance(3 * VELOCITY_WINDOW_MS);
        const { now } = wallet.clock;
        let recent = NO_PAYOUTS;
        for (const { ageMs, amountCents, isHeld } of earlier.toSorted((a, b) => b.ageMs - a.ageMs)) {
          wallet.clock.now = new Date(now.getTime() - ageMs);
          await flag({ enforcementFlag: isHeld, underInvestigation: false });
          await ok(wallet.client.payAwards({ payments: [purseOf(player, amountCents)] }));
          if (!isHeld && ageMs < VELOCITY_WINDOW_MS) recent = withPayout(recent, cents(amountCents));
        }
        wallet.clock.now = now;
        await flag(win);
        const holds = sandboxHold && environment === Environment.TEST;
        if (holds) await ok(wallet.client.holdNextAward({ player: player.player }));

        const before = await balanceOf(wallet, player);
        const reason = decideHold({
          ...win,
          sandboxHold: holds,
          recent,
          program: NO_PROGRAM_LIMIT,
          amountCents: cents(win.amountCents),
          limits: LIMITS,
        });
        outcomes[reason === null ? 'paid' : 'held'] += 1;
        expect(await pay(requestOf(player, win.kind, win.amountCents))).toEqual([reason === null]);
        expect(await balanceOf(wallet, player)).toBe(before + (reason === null ? win.amountCents : 0n));
      }),
      { numRuns: 60 },
    );
    expect(outcomes.paid).toBeGreaterThan(5);
    expect(outcomes.held).toBeGreaterThan(5);
  });

  it('optimistic and locked payouts write equal rows, for an award and for a purse', async () => {
    for (const [kind, paymentOf] of [['award', awardOf] as const, ['purse', purseOf] as const]) {
      const player = await addPlayer(wallet, { balanceCents: 1_00n });
      // The last payout of the player was held, so the next one is decided under lock.
      const flag = (enforcementFlag: boolean) =>
        ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, enforcementFlag }));
      await flag(true);
      await ok(wallet.client.payAwards({ payments: [paymentOf(player, 5_00n)] }));
      await flag(false);
      const before = await countOptimisticPayouts();
      await ok(wallet.client.payAwards({ payments: [paymentOf(player, 5_00n)] }));
      expect(await countOptimisticPayouts()).toBe(before);
      expect(await pay(requestOf(player, kind, 5_00n))).toEqual([true]);
      const [row] = await wallet.database.query(
        {
          text: `
            select count(*) as payouts, array_agg(transfers.player_balance_after_cents order by transfers.seq) as balances,
              count(distinct (transfers.kind, transfers.state, transfers.environment, transfers.debit_id, transfers.credit_id,
                transfers.amount_cents, transfers.player_ledger_id, transfers.fee_transfer_id, transfers.reference, transfers.reason,
                transfers.refusal_code, transfers.house_id, transfers.created_at, payouts.program_id, payouts.environment,
                payouts.account_id, payouts.amount_cents, payouts.status, payouts.reason, payouts.created_at, payouts.paid_at,
                payouts.denied_at)) as alike,
              bool_and(transfers.award_id = payouts.award_id and transfers.attempt_id is not distinct from payouts.attempt_id
                and transfers.round_id is not distinct from payouts.round_id) as consistent
            from payouts join transfers on transfers.id = payouts.transfer_id where payouts.account_id = $1`,
        },
        [player.accountId],
      );
      expect(row).toEqual({ payouts: 2n, balances: [6_00n, 11_00n], alike: 1n, consistent: true });
    }
  });

  it('one statement pays payouts of several players, houses and kinds, even if it leaves out one of them', async () => {
    const players = await Promise.all(
      [Environment.LIVE, Environment.TEST, Environment.TEST, Environment.LIVE].map((environment) =>
        addPlayer(wallet, { environment, balanceCents: 1_00n }),
      ),
    );
    const unopened = await addPlayer(wallet);
    const kinds = ['award', 'purse', 'award', 'purse'] as const;
    const requests = players.map((player, index) => requestOf(player, kinds[index] ?? 'award', 10_00n));
    const tooMuch = requestOf(await addPlayer(wallet, { balanceCents: 1_00n }), 'award', 20_01n);
    expect(await pay(...requests, tooMuch, requestOf(unopened, 'award', 1_00n))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    for (const player of players) expect(await balanceOf(wallet, player)).toBe(11_00n);
  });

  it('the optimistic statement fails and pays nothing if one of its awards was decided before', async () => {
    const [first, second] = await Promise.all([0, 1].map(() => addPlayer(wallet, { balanceCents: 1_00n })));
    if (first === undefined || second === undefined) throw new Error('no players');
    const decided = requestOf(first, 'award', 1_00n);
    expect(await pay(decided)).toEqual([true]);
    await expect(pay(requestOf(second, 'award', 1_00n), decided)).rejects.toThrow(/duplicate key/);
    expect([await balanceOf(wallet, first), await balanceOf(wallet, second)]).toEqual([2_00n, 1_00n]);
    // The same award id with another player, amount or win fails in the same way.
    const { awardId } = decided;
    for (const other of [requestOf(second, 'award', 1_00n), requestOf(second, 'purse', 3_00n)]) {
      await expect(pay({ ...other, awardId })).rejects.toThrow(/duplicate key/);
    }
    expect([await balanceOf(wallet, first), await balanceOf(wallet, second)]).toEqual([2_00n, 1_00n]);
  });
});

it('a payout that the statement leaves out is not reported as paid, even if a paid payout has the same award id', async () => {
  const [one, held] = await Promise.all([0, 1].map(() => addPlayer(wallet, { balanceCents: 1_00n })));
  if (one === undefined || held === undefined) throw new Error('no players');
  const { accountId } = held;
  await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, underInvestigation: true }));
  const paying = requestOf(one, 'award', 1_00n);
  expect(await pay(paying, { ...paying, accountId })).toEqual([true, false]);
  expect([await balanceOf(wallet, one), await balanceOf(wallet, held)]).toEqual([2_00n, 1_00n]);
});

describe('the optimistic statement of payouts behind the lock of another transaction', () => {
  const change = {
    nothing: 'select $1::uuid',
    'a fee and a credit of the same amount, so that the balance is the same':
      'update ledger_accounts set balance_cents = balance_cents where id = $1',
    'a fee': 'update ledger_accounts set balance_cents = balance_cents - 0 where id = $1',
  };

  /**
   * Sends the statement while another transaction holds the player's row, runs `work` and commits.
   * Returns what the statement paid.
   */
  async function payBehind(player: TestPlayer, text: string): Promise<readonly boolean[]> {
    const ledgerId = playerLedgerId(player.accountId, 'live');
    let answer: Promise<readonly boolean[]> | undefined;
    await holder.transaction(async (tx) => {
      await tx.query({ text: 'select from ledger_accounts where id = $1 for no key update' }, [ledgerId]);
      await tx.query({ text }, [ledgerId]);
      answer = pay(requestOf(player, 'award', 1_00n));
      answer.catch(() => {});
      while (!(await isWaiting())) {}
    });
    return (await answer) ?? [];
  }

  async function isWaiting(): Promise<boolean> {
    const rows = await wallet.database.query({
      text: `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    });
    return rows.length > 0;
  }

  it.each(Object.entries(change))(
    'the statement pays only if the row did not change meanwhile: %s',
    async (name, text) => {
      const player = await addPlayer(wallet, { balanceCents: 5_00n });
      expect(await payBehind(player, text)).toEqual([name === 'nothing']);
      expect(await balanceOf(wallet, player)).toBe(name === 'nothing' ? 6_00n : 5_00n);
    },
  );

  it('the statement leaves out an award if its player reached the payout limit while the statement waited', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    expect(await pay(requestOf(player, 'award', 1_00n))).toEqual([true]);
    expect(await pay(requestOf(player, 'award', 1_00n))).toEqual([true]);
    const payments = [1, 2, 3, 4].map(() => requestOf(player, 'award', 1_00n));
    const answers = await Promise.all(payments.map((payment) => pay(payment)));
    // Only one of the four awards fits within the limit. The statements that waited for its commit
    // leave out the other three.
    expect(answers.flat().filter((isPaid) => isPaid)).toHaveLength(1);
  });

  it('optimistic and locking payouts by two replicas to the same players never deadlock', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(wallet, { balanceCents: 10_00n })));
    const failures: unknown[] = [];
    const replicas = [holder, waiter].map((database) =>
      createAwardPaymentBatches({
        database: recordingFailures(database, failures),
        clock: () => wallet.clock.now,
        limits: LIMITS,
        defaults: DEFAULT_LIMITS,
      }),
    );
    // Only one replica pays these players, so their payments never conflict. Payments to the other
    // players may conflict with the other replica's, and are then decided under lock.
    const unrivalled = await Promise.all(replicas.map(() => addPlayer(wallet, { balanceCents: 10_00n })));
    // The first payout of a program in live finds no row of the program, and is decided under lock.
    await openPrograms(
      wallet.database,
      [...unrivalled, ...players].map((player) => requestOf(player, 'award', 1_00n)),
    );
    const before = await countOptimisticPayouts();
    const paidAlone = replicas.map(async (replica, index) => {
      const { status } = await replica.submit(requestOf(unrivalled[index] as TestPlayer, 'award', 1_00n));
      return status;
    });
    const payouts = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const player = players[Math.floor(index / 2) % 20] as TestPlayer;
        const fee = index % 3 === 0 ? ok(wallet.client.chargeFees({ charges: [chargeOf(player, 10n)] })) : null;
        // Every seventh award is too large; the next payout of its player is decided under lock.
        const payout = await replicas[index % 2]?.submit(requestOf(player, 'award', index % 7 === 0 ? 21_00n : 1_00n));
        await fee;
        return payout;
      }),
    );
    for (const { accountId } of players) {
      const statuses = payouts.flatMap((payout) => (payout?.accountId === accountId ? [payout.status] : []));
      expect(statuses.toSorted()).toEqual([...Array(7).fill('held'), ...Array(3).fill('paid')]);
    }
    expect(await Promise.all(paidAlone)).toEqual(['paid', 'paid']);
    expect(failures).toEqual([]);
    expect(await countOptimisticPayouts()).toBeGreaterThanOrEqual(before + replicas.length);
  });
});

/** Records each failed write: a retry would otherwise hide a deadlock. */
function recordingFailures(database: Database, failures: unknown[]): Database {
  const record = (error: unknown): never => {
    failures.push(error);
    throw error;
  };
  return {
    ...database,
    transaction: (work, options) => database.transaction(work, options).catch(record),
    write: (statement, values, options) => database.write<never>(statement, values, options).catch(record),
  };
}
