/**
 * The contest services' client of the wallet. Every hot call here takes one item, and is batched
 * with concurrent calls. A call is idempotent by the item's id, so the client sends it again if the
 * response is lost.
 */

import { type Coalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { isRefused, type Refused } from '@laurel/errors';
import {
  type Channels,
  createClient,
  createCoalescedCall,
  parseTenant,
  presentTenant,
  type TypedClient,
} from '@laurel/grpc';
import { ENVIRONMENTS, findName, nameOf, PAYOUT_STATUSES } from '@laurel/proto/enum-names';
import {
  type FeeChargeResult as FeeChargeResultMessage,
  type FeeRecord,
  FeeState,
  type GetFeeResponse,
  type GetPayoutResponse,
  type Payout,
  PayoutStatus,
  WalletServiceClient,
  type WalletServiceService,
} from '@laurel/proto/wallet';
import type { ContestServiceName } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { FeeHistory, PayoutHistory } from './domain/attempt-history.ts';
import type { PayoutRecord, PrizeOf } from './domain/award.ts';
import type { AwardReview } from './domain/award-review.ts';
import type { Fee } from './domain/owned-attempt.ts';
import type { Player, Requirement } from './domain/player.ts';
import type { RefundReason } from './domain/refund-reason.ts';

export type FeeCharge = Fee & {
  readonly player: Player;
  readonly accountId: string;
  readonly feeCents: Cents;
  readonly requirement: Requirement;
};

export type FeeChargeResult =
  | { readonly kind: 'posted' }
  /**
   * The fee's id has a tombstone. If no refusal caused the tombstone, the code is `internal_error`.
   */
  | { readonly kind: 'refused'; readonly code: string }
  /** The ref names another account now; null for none. */
  | { readonly kind: 'moved'; readonly accountId: string | null };

type FeeQuery = Fee & { readonly environment: Environment; readonly tombstoneIfAbsent: boolean };

type FeeRefund = { readonly feeTransferId: string; readonly environment: Environment; readonly reason: RefundReason };

export type FeeResolution =
  | { readonly kind: 'posted' }
  /** Null if no rule refused the fee. */
  | { readonly kind: 'tombstoned'; readonly refusalCode: string | null }
  | { readonly kind: 'absent' };

export type AwardPayment = PrizeOf & {
  readonly awardId: string;
  readonly tenant: Tenant;
  readonly accountId: string;
  readonly amountCents: Cents;
  /** Why the contest service requires a hold; undefined leaves the decision to the wallet. */
  readonly holdReason: 'challenge_suspended' | undefined;
};

/**
 * A player's eligibility. There is one code per requirement: null if the player is eligible, else
 * the code of the refusal.
 */
export type Eligibility = {
  readonly accountId: string | null;
  readonly codes: readonly (string | null)[];
  /** The highest fee that the program may charge the account now; null for no limit. */
  readonly chargeableCents: Cents | null;
};

export type FeeListing = {
  readonly attemptId: string;
  readonly accountId: string;
  readonly feeCents: Cents;
  readonly refunded: boolean;
  readonly environment: Environment;
};

export type PayoutListing = PayoutRecord & {
  readonly attemptId: string;
  readonly roundId: string;
  readonly accountId: string;
  readonly amountCents: Cents;
  readonly environment: Environment;
};

export interface Wallet extends AsyncDisposable {
  /** The account that the ref names now; null for none. */
  resolvePlayer(player: Player): Promise<string | null>;
  checkEligibility(player: Player, requirements: readonly Requirement[]): Promise<Eligibility>;
  chargeFee(charge: FeeCharge): Promise<FeeChargeResult>;
  resolveFee(query: FeeQuery): Promise<FeeResolution>;
  /** Throws if no such fee was ever posted. */
  refundFee(refund: FeeRefund): Promise<void>;
  /** Throws if the wallet has a payout with this award id for another win, account or amount. */
  payAward(payment: AwardPayment): Promise<PayoutRecord>;
  /** `review` is null if software version 0.2.0 began the review. */
  releasePayout(awardId: string, review: AwardReview | null): Promise<PayoutRecord | Refused>;
  /** `review` is null if software version 0.2.0 began the review. */
  denyPayout(awardId: string, review: AwardReview | null): Promise<PayoutRecord | Refused>;
  getPayout(awardId: string): Promise<PayoutRecord | Refused>;
  /** Finds the payout with its times; null if the wallet has not decided the payout. */
  findPayoutHistory(awardId: string): Promise<PayoutHistory | null>;
  /**
   * Finds the posted fee of the attempt, with its refund; null if the wallet has not posted the
   * fee.
   */
  findFee(attemptId: string): Promise<FeeHistory | null>;
  /**
   * Lists posted fees of the contest service's attempts above this attempt id, in attempt id order.
   */
  listFees(contestService: ContestServiceName, afterAttemptId: string, limit: number): Promise<readonly FeeListing[]>;
  /** Lists payouts of the contest service's awards above this award id, in award id order. */
  listAwardPayouts(
    contestService: ContestServiceName,
    afterAwardId: string,
    limit: number,
  ): Promise<readonly PayoutListing[]>;
}

// The wallet decides one batch of each kind at a time. The second lane fills the next batch
// meanwhile.
const LANES = 2;

export function connectWallet(address: string, { identity, inProcess }: Channels = {}): Wallet {
  const client = createClient(WalletServiceClient, {
    name: 'wallet',
    address,
    identity,
    inProcess,
    retryLostReply: 'immediately',
    hot: ['resolvePlayers', 'chargeFees', 'resolveFees', 'refundFees', 'payAwards'],
  });

  const resolvePlayers = createWalletCall<Player, string | null>({
    name: 'wallet.resolve_players',
    environmentOf: ({ tenant }) => tenant.environment,
    async call(players) {
      const { accountIds } = answered(await client.resolvePlayers({ players: players.map(toPlayer) }));
      return accountIds.map((id) => (id === '' ? null : id));
    },
  });

  const chargeFees = createWalletCall<FeeCharge, FeeChargeResult>({
    name: 'wallet.charge_fees',
    environmentOf: ({ player }) => player.tenant.environment,
    async call(charges) {
      const { results } = answered(
        await client.chargeFees({
          charges: charges.map(({ player, requirement, ...charge }) => ({
            ...charge,
            player: toPlayer(player),
            requirement: toRequirement(requirement),
          })),
        }),
      );
      return results.map(({ result }) => toFeeChargeResult(result));
    },
  });

  const resolveFees = createWalletCall<FeeQuery, FeeResolution>({
    name: 'wallet.resolve_fees',
    environmentOf: ({ environment }) => environment,
    async call(queries) {
      const { resolutions } = answered(await client.resolveFees({ queries: queries.map(toMessage) }));
      return resolutions.map(({ state, refusalCode }): FeeResolution => {
        if (state === FeeState.POSTED) return { kind: 'posted' };
        if (state === FeeState.ABSENT) return { kind: 'absent' };
        if (state === FeeState.TOMBSTONE)
          return { kind: 'tombstoned', refusalCode: refusalCode === '' ? null : refusalCode };
        throw new Error(`the wallet answered a fee with the state ${state}`);
      });
    },
  });

  const refundFees = createWalletCall<FeeRefund, boolean>({
    name: 'wallet.refund_fees',
    environmentOf: ({ environment }) => environment,
    async call(refunds) {
      const { results } = answered(await client.refundFees({ refunds: refunds.map(toMessage) }));
      return results.map(({ refunded }) => refunded);
    },
  });

  const payAwards = createWalletCall<AwardPayment, PayoutRecord | null>({
    name: 'wallet.pay_awards',
    environmentOf: ({ tenant }) => tenant.environment,
    async call(payments) {
      const { payouts } = answered(
        await client.payAwards({
          payments: payments.map(({ tenant, ...payment }) => ({
            attemptId: '',
            ...payment,
            tenant: presentTenant(tenant),
          })),
        }),
      );
      return payouts.map((payout) => (payout.status === PayoutStatus.UNSPECIFIED ? null : toPayoutRecord(payout)));
    },
  });

  const coalesced: readonly Coalescer<never, unknown>[] = [
    resolvePlayers,
    chargeFees,
    resolveFees,
    refundFees,
    payAwards,
  ];

  return {
    resolvePlayer: (player) => resolvePlayers.submit(player),
    async checkEligibility(player, requirements) {
      const { accountId, codes, chargeableCents } = answered(
        await client.checkEligibility({ player: toPlayer(player), requirements: requirements.map(toRequirement) }),
      );
      return {
        accountId: accountId === '' ? null : accountId,
        codes: codes.map((code) => (code === '' ? null : code)),
        // Unset for no limit.
        chargeableCents: chargeableCents === undefined ? null : cents(chargeableCents),
      };
    },
    chargeFee: (charge) => chargeFees.submit(charge),
    resolveFee: (query) => resolveFees.submit(query),
    async refundFee(refund) {
      const refunded = await refundFees.submit(refund);
      if (!refunded) throw new Error(`the wallet knows no posted fee ${refund.feeTransferId} to refund`);
    },
    async payAward(payment) {
      const payout = await payAwards.submit(payment);
      if (payout !== null) return payout;
      throw new Error(`the wallet has a payout of the award ${payment.awardId} on other terms`);
    },
    async releasePayout(awardId, review) {
      const answer = await client.releasePayout({ awardId, ...toReviewer(review) });
      return isRefused(answer) ? answer : payoutOf(answer.payout);
    },
    async denyPayout(awardId, review) {
      const answer = await client.denyPayout({ awardId, ...toReviewer(review) });
      return isRefused(answer) ? answer : payoutOf(answer.payout);
    },
    async getPayout(awardId) {
      const answer = await client.getPayout({ awardId });
      return isRefused(answer) ? answer : payoutOf(answer.payout);
    },
    ...createReads(client),
    async [Symbol.asyncDispose]() {
      await Promise.all(coalesced.map((calls) => calls.drain()));
      await client[Symbol.asyncDispose]();
    },
  };
}

/** The reads of what the wallet stores, for audits and for the history of an attempt. */
function createReads(
  client: TypedClient<WalletServiceService>,
): Pick<Wallet, 'findPayoutHistory' | 'findFee' | 'listFees' | 'listAwardPayouts'> {
  return {
    async findPayoutHistory(awardId) {
      const answer = await client.getPayout({ awardId });
      return isRefused(answer) ? null : toPayoutHistory(answer);
    },
    async findFee(attemptId) {
      const fee = await client.getFee({ attemptId });
      return isRefused(fee) ? null : toFeeHistory(fee);
    },
    async listFees(contestService, afterAttemptId, limit) {
      const { fees } = answered(await client.listFees({ afterAttemptId, limit, owner: contestService }));
      return fees.map(toFeeListing);
    },
    async listAwardPayouts(contestService, afterAwardId, limit) {
      const { payouts } = answered(await client.listAwardPayouts({ afterAwardId, limit, owner: contestService }));
      return payouts.map(toPayoutListing);
    },
  };
}

/** Batches single items; live and test items are never in one batch. */
function createWalletCall<Item, Result>(options: {
  readonly name: string;
  readonly environmentOf: (item: Item) => Environment;
  readonly call: (items: readonly Item[]) => Promise<readonly Result[]>;
}): Coalescer<Item, Result> {
  const { name, environmentOf, call } = options;
  return createCoalescersByEnvironment({
    environmentOf,
    create: () => createCoalescedCall({ name, lanes: LANES, call }),
  });
}

function toFeeChargeResult(result: FeeChargeResultMessage['result']): FeeChargeResult {
  if (result === undefined) throw new Error('the wallet left a charge without a result');
  if (result.$case === 'posted') return { kind: 'posted' };
  if (result.$case === 'refused') return { kind: 'refused', code: result.value.code };
  return { kind: 'moved', accountId: result.value.accountId === '' ? null : result.value.accountId };
}

/** Returns the response of a call that never refuses; throws on a refusal. */
function answered<Answer>(answer: Answer | Refused): Answer {
  if (isRefused(answer)) throw new Error(`the wallet refused a call that refuses nothing: ${answer.code}`);
  return answer;
}

function toMessage<Item extends { readonly environment: Environment }>(item: Item) {
  return { ...item, environment: ENVIRONMENTS[item.environment] };
}

function toReviewer(review: AwardReview | null) {
  return review === null ? {} : { operator: review.operator, reason: review.reason ?? undefined };
}

function toPlayer({ tenant, playerRef }: Player) {
  return { tenant: presentTenant(tenant), playerRef };
}

function toRequirement({ jurisdictions, ...requirement }: Requirement) {
  return { ...requirement, jurisdictions: [...jurisdictions] };
}

function payoutOf(payout: Payout | undefined): PayoutRecord {
  if (payout === undefined) throw new Error('the wallet left a payout out');
  return toPayoutRecord(payout);
}

function toFeeListing(fee: FeeRecord): FeeListing {
  return { ...fee, feeCents: cents(fee.feeCents), environment: nameOf(ENVIRONMENTS, fee.environment) };
}

function toPayoutListing(payout: Payout): PayoutListing {
  return {
    ...toPayoutRecord(payout),
    attemptId: payout.attemptId,
    roundId: payout.roundId,
    accountId: payout.accountId,
    amountCents: cents(payout.amountCents),
    environment: parseTenant(payout.tenant).environment,
  };
}

function toPayoutRecord(payout: Payout): PayoutRecord {
  const status = findName(PAYOUT_STATUSES, payout.status);
  if (status === undefined) throw new Error(`the wallet answered a payout with the status ${payout.status}`);
  return { awardId: payout.awardId, status, paidAt: status === 'paid' ? (payout.paidAt ?? null) : null };
}

function toPayoutHistory({ payout, deniedAt }: GetPayoutResponse): PayoutHistory {
  if (payout?.createdAt === undefined) throw new Error('the wallet left out when a payout was decided');
  const { createdAt } = payout;
  return { ...payoutOf(payout), amountCents: cents(payout.amountCents), createdAt, deniedAt: deniedAt ?? null };
}

function toFeeHistory({ feeCents, chargedAt, refundedAt, refundReason }: GetFeeResponse): FeeHistory {
  if (chargedAt === undefined) throw new Error('the wallet left out when a fee was charged');
  const reason = refundReason === '' ? null : refundReason;
  return { feeCents: cents(feeCents), chargedAt, refundedAt: refundedAt ?? null, refundReason: reason };
}
