import { Environment } from '@laurel/proto/common';
import { type AwardPayment, type FeeCharge, FeeState, PayoutStatus } from '@laurel/proto/wallet';
import { feeTransferId, newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addPlayer,
  auditViolations,
  awardOf,
  balanceOf,
  charge,
  chargeOf,
  chargeResultOf,
  countOptimisticFees,
  ok,
  openTestWallet,
  purseOf,
  queryOf,
  refusalOf,
  type TestPlayer,
  type TestWallet,
  type WalletClient,
} from './wallet.fixture.ts';

/**
 * The reference model: the state that the contract implies. It keeps fees, awards and deposits so
 * that commands can repeat them.
 */
type Model = {
  readonly balances: bigint[];
  readonly blocked: boolean[];
  readonly investigated: boolean[];
  readonly paid: { count: number; cents: bigint }[];
  readonly deposits: Map<string, bigint>;
  readonly fees: { fee: FeeCharge; player: number; end: string; refunded: boolean }[];
  readonly awards: { payment: AwardPayment; player: number; status: PayoutStatus }[];
};

type Real = { readonly wallet: TestWallet; readonly clients: WalletClient[]; readonly players: TestPlayer[] };

type Command = fc.AsyncCommand<Model, Real>;

/** A command that may always run; `run` changes the model and compares every response with it. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

function at<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(items.length, 1)];
}

function must<Item>(item: Item | undefined): Item {
  if (item === undefined) throw new Error('the model has no such item');
  return item;
}

/** The result that the contract gives a new charge. */
function expectCharge(model: Model, player: number, feeCents: bigint): string {
  if (model.blocked[player]) return 'blocked';
  const balance = must(model.balances[player]);
  if (balance < feeCents) return 'insufficient_funds';
  model.balances[player] = balance - feeCents;
  return 'posted';
}

const chargeMany = (players: number[], feeCents: bigint, replica: number) =>
  command(`charge ${feeCents} of ${players}`, async (model, real) => {
    const charges = players.map((player) => chargeOf(must(real.players[player]), feeCents));
    const expected = players.map((player) => expectCharge(model, player, feeCents));
    const { results } = await ok(must(real.clients[replica]).chargeFees({ charges }));
    expect(results.map(chargeResultOf)).toEqual(expected);
    charges.forEach((fee, index) => {
      model.fees.push({ fee, player: must(players[index]), end: must(expected[index]), refunded: false });
    });
  });

const chargeAgain = (index: number, replica: number) =>
  command(`charge again ${index}`, async (model, real) => {
    const known = at(model.fees, index);
    if (known !== undefined) expect(await charge(must(real.clients[replica]), known.fee)).toBe(known.end);
  });

const putTombstone = (index: number, isNew: boolean, replica: number) =>
  command(`tombstone under ${isNew ? 'a new id' : index}`, async (model, real) => {
    const known = isNew ? undefined : at(model.fees, index);
    const fee = known?.fee ?? chargeOf(must(real.players[index % real.players.length]), 1n);
    const queries = [queryOf(fee, true)];
    const { resolutions } = await ok(must(real.clients[replica]).resolveFees({ queries }));
    const end = known?.end ?? 'internal_error';
    expect(resolutions).toEqual([
      end === 'posted'
        ? { state: FeeState.POSTED, refusalCode: '' }
        : { state: FeeState.TOMBSTONE, refusalCode: end === 'internal_error' ? '' : end },
    ]);
    if (known === undefined) model.fees.push({ fee, player: index % real.players.length, end, refunded: false });
  });

const refund = (index: number, replica: number) =>
  command(`refund ${index}`, async (model, real) => {
    const known = at(model.fees, index);
    const id = known?.fee.transferId ?? feeTransferId(newId());
    const refunds = [{ feeTransferId: id, reason: 'expired' }];
    const { results } = await ok(must(real.clients[replica]).refundFees({ refunds }));
    expect(results.map((result) => result.refunded)).toEqual([known?.end === 'posted']);
    if (known?.end !== 'posted' || known.refunded) return;
    known.refunded = true;
    model.balances[known.player] = must(model.balances[known.player]) + known.fee.feeCents;
  });

const deposit = (player: number, amountCents: bigint, reference: string) =>
  command(`deposit ${amountCents} to ${player} as ${reference}`, async (model, real) => {
    const { accountId } = must(real.players[player]);
    const environment = must(ENVIRONMENTS[player]);
    const call = must(real.clients[0]).deposit({ accountId, environment, amountCents, reference });
    const key = `${player} ${reference}`;
    const before = model.deposits.get(key);
    if (before !== undefined && before !== amountCents) return expect(await refusalOf(call)).toBe('conflict');
    if (before === undefined) {
      const balance = must(model.balances[player]) + amountCents;
      const most = environment === Environment.LIVE ? 1_000_000_00n : 10_000_00n;
      if (balance > most) return expect(await refusalOf(call)).toBe('invalid_request');
      model.balances[player] = balance;
    }
    model.deposits.set(key, amountCents);
    expect(await ok(call)).toEqual({ balanceCents: model.balances[player], postedBefore: before !== undefined });
  });

const award = (player: number, amountCents: bigint, replica: number) =>
  command(`award ${amountCents} to ${player}`, async (model, real) => {
    const payment = awardOf(must(real.players[player]), amountCents);
    const recent = must(model.paid[player]);
    const isHeld = model.investigated[player] || recent.count + 1 > 5 || recent.cents + amountCents > 500_00n;
    const status = isHeld ? PayoutStatus.HELD : PayoutStatus.PAID;
    const { payouts } = await ok(must(real.clients[replica]).payAwards({ payments: [payment] }));
    expect(payouts.map((payout) => payout.status)).toEqual([status]);
    model.awards.push({ payment, player, status });
    if (!isHeld) payOut(model, player, amountCents);
  });

/**
 * The ranks of one round: no velocity holds them, and each paid one counts towards the velocity of
 * later awards.
 */
const payRound = (players: number[], amountCents: bigint, replica: number) =>
  command(`purses of ${amountCents} to ${players}`, async (model, real) => {
    const roundId = newId();
    const payments = players.map((player) => purseOf(must(real.players[player]), amountCents, roundId));
    const statuses = players.map((player) => (model.investigated[player] ? PayoutStatus.HELD : PayoutStatus.PAID));
    const { payouts } = await ok(must(real.clients[replica]).payAwards({ payments }));
    expect(payouts.map((payout) => [payout.roundId, payout.status])).toEqual(
      statuses.map((status) => [roundId, status]),
    );
    payments.forEach((payment, index) => {
      const [player, status] = [must(players[index]), must(statuses[index])];
      model.awards.push({ payment, player, status });
      if (status === PayoutStatus.PAID) payOut(model, player, amountCents);
    });
  });

const awardAgain = (index: number, replica: number) =>
  command(`award again ${index}`, async (model, real) => {
    const known = at(model.awards, index);
    if (known === undefined) return;
    const { payouts } = await ok(must(real.clients[replica]).payAwards({ payments: [known.payment] }));
    expect(payouts.map((payout) => payout.status)).toEqual([known.status]);
  });

const review = (index: number, isRelease: boolean, replica: number) =>
  command(`${isRelease ? 'release' : 'deny'} ${index}`, async (model, real) => {
    const known = at(model.awards, index);
    if (known === undefined) return;
    const { awardId } = known.payment;
    const client = must(real.clients[replica]);
    const call = isRelease ? client.releasePayout({ awardId }) : client.denyPayout({ awardId });
    const wanted = isRelease ? PayoutStatus.PAID : PayoutStatus.DENIED;
    if (known.status !== PayoutStatus.HELD && known.status !== wanted) {
      return expect(await refusalOf(call)).toBe('conflict');
    }
    const { payout } = await ok<{ payout: { status: PayoutStatus } | undefined }>(call);
    expect(payout?.status).toBe(wanted);
    if (known.status === PayoutStatus.HELD && isRelease) payOut(model, known.player, known.payment.amountCents);
    known.status = wanted;
  });

const block = (player: number, blocked: boolean) =>
  command(`${blocked ? 'block' : 'unblock'} ${player}`, async (model, real) => {
    const { accountId } = must(real.players[player]);
    await ok(must(real.clients[0]).updateAccount({ accountId, clearSelfExclusion: false, blocked }));
    model.blocked[player] = blocked;
  });

const investigate = (player: number, underInvestigation: boolean) =>
  command(`${underInvestigation ? 'investigate' : 'clear'} ${player}`, async (model, real) => {
    const { accountId } = must(real.players[player]);
    await ok(must(real.clients[0]).updateAccount({ accountId, clearSelfExclusion: false, underInvestigation }));
    model.investigated[player] = underInvestigation;
  });

function payOut(model: Model, player: number, amountCents: bigint): void {
  const recent = must(model.paid[player]);
  recent.count += 1;
  recent.cents += amountCents;
  model.balances[player] = must(model.balances[player]) + amountCents;
}

/** A person, and sandbox accounts of two programs: three houses, which share every batch. */
const ENVIRONMENTS = [Environment.LIVE, Environment.TEST, Environment.TEST];
const player = fc.nat(ENVIRONMENTS.length - 1);
const cash = fc.oneof(fc.bigInt(1n, 50_00n), fc.bigInt(1n, 8_000_00n), fc.constant(999_999_99n));
const replica = fc.nat(1);
const index = fc.nat(30);
const commands = fc.commands(
  [
    fc.tuple(player, cash, fc.constantFrom('a', 'b', 'c')).map((args) => deposit(...args)),
    fc
      .tuple(fc.array(player, { minLength: 1, maxLength: 6 }), fc.bigInt(1n, 20_00n), replica)
      .map((args) => chargeMany(...args)),
    fc.tuple(index, replica).map((args) => chargeAgain(...args)),
    fc.tuple(index, fc.boolean(), replica).map((args) => putTombstone(...args)),
    fc.tuple(index, replica).map((args) => refund(...args)),
    fc.tuple(player, fc.bigInt(1n, 300_00n), replica).map((args) => award(...args)),
    fc
      .tuple(fc.array(player, { minLength: 1, maxLength: 6 }), fc.bigInt(1n, 300_00n), replica)
      .map((args) => payRound(...args)),
    fc.tuple(index, replica).map((args) => awardAgain(...args)),
    fc.tuple(index, fc.boolean(), replica).map((args) => review(...args)),
    fc.tuple(player, fc.boolean()).map((args) => block(...args)),
    fc.tuple(player, fc.boolean()).map((args) => investigate(...args)),
  ],
  { maxCommands: 40 },
);

describe('the wallet against its reference model', () => {
  let wallet: TestWallet;
  let clients: WalletClient[];

  beforeAll(async () => {
    wallet = await openTestWallet();
    clients = [wallet.client, await wallet.startReplica()];
  });

  afterAll(() => wallet[Symbol.asyncDispose]());

  it('two replicas of the wallet match the reference model for any sequence of commands', async () => {
    const optimisticBefore = await countOptimisticFees();
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const players = await Promise.all(ENVIRONMENTS.map((environment) => addPlayer(wallet, { environment })));
        const model: Model = {
          balances: players.map(() => 0n),
          blocked: players.map(() => false),
          investigated: players.map(() => false),
          paid: players.map(() => ({ count: 0, cents: 0n })),
          deposits: new Map(),
          fees: [],
          awards: [],
        };
        await fc.asyncModelRun(() => ({ model, real: { wallet, clients, players } }), sequence);
        expect(await Promise.all(players.map((each) => balanceOf(wallet, each)))).toEqual(model.balances);
        expect(await auditViolations(wallet)).toEqual({});
      }),
      // A player who has just paid is cached, so sequences with such a player post some fees
      // optimistically and some under lock.
      { numRuns: 15, examples: [[[deposit(0, 50_00n, 'a'), chargeMany([0], 1_00n, 0), chargeMany([0], 1_00n, 0)]]] },
    );
    expect(await countOptimisticFees()).toBeGreaterThan(optimisticBefore);
  }, 60_000);
});
