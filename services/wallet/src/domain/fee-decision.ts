/**
 * The decision on a batch of entry fees. Each is decided once, by its transfer id, in this order:
 *
 * 1. The id is posted: the same result, and nothing is charged again.
 * 2. The id has a tombstone: the same refusal, permanently.
 * 3. The ref names another account than when the caller resolved it: `moved`. Nothing is written
 *    and the id stays free.
 * 4. The person may not play for money: `blocked` or `insider_entry`.
 * 5. The fee would take what the program charges the account in 24 hours over its limit
 *    (fee-limit.ts): `blocked`.
 * 6. The balance cannot pay, or the ref has no account: `insufficient_funds`.
 * 7. The fee is posted.
 *
 * A refusal writes a tombstone, so that a late duplicate of the charge can never be posted. Each
 * fee of a batch is decided with the effect of the fees before it.
 */

import type { Cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import { decideEligibility, type EligibilityFacts, type EligibilityRules, type Requirement } from './eligibility.ts';
import { type ChargedFees, exceedsFeeLimit, withFee } from './fee-limit.ts';
import {
  type Book,
  type FeeRefusalCode,
  type LedgerChanges,
  openBook,
  type PlayerLedger,
  playerLedgerId,
} from './ledger.ts';
import { programKeyOf } from './program-limits.ts';

/** One fee that a caller requests. */
export type FeeCharge = {
  readonly transferId: string;
  readonly attemptId: string;
  readonly programId: string;
  readonly environment: Environment;
  readonly playerRef: string;
  /** The account that the caller resolved the ref to; null for none. */
  readonly accountId: string | null;
  readonly feeCents: Cents;
  readonly requirement: Requirement;
};

/** The stored state of a fee's transfer id. */
export type StoredFee =
  | { readonly state: 'posted'; readonly attemptId: string; readonly postedAt: Date }
  /**
   * A tombstone. It has no refusal code if the contest service abandoned the attempt before its
   * charge arrived.
   */
  | { readonly state: 'tombstone'; readonly refusalCode: FeeRefusalCode | null };

/** The person that a ref names. */
export type KnownPlayer = { readonly accountId: string; readonly eligibility: EligibilityFacts };

/** The stored facts about one charge, read after the player's row was locked. */
export type FeeFacts = {
  readonly stored: StoredFee | null;
  /** The person that the ref names now; null for none. */
  readonly player: KnownPlayer | null;
  /** What the program charged the account, without this batch. */
  readonly charged: ChargedFees;
};

export type FeeResult =
  | { readonly kind: 'posted'; readonly postedAt: Date }
  | { readonly kind: 'refused'; readonly code: FeeRefusalCode | 'internal_error' }
  | { readonly kind: 'moved'; readonly accountId: string | null };

/** Returns one result per charge, in order, and the changes to write. */
export function decideFees(batch: {
  readonly charges: readonly FeeCharge[];
  readonly facts: readonly FeeFacts[];
  readonly locked: readonly PlayerLedger[];
  readonly rules: EligibilityRules;
  readonly now: Date;
}): { readonly results: readonly FeeResult[]; readonly changes: LedgerChanges } {
  const book = openBook(batch.locked);
  // If a batch has an id twice, the second gets the first one's decision.
  const decided = new Map<string, StoredFee>();
  const chargedByPair = new Map<string, ChargedFees>();

  const results = batch.charges.map((charge, index): FeeResult => {
    const facts = batch.facts[index];
    if (facts === undefined) throw new Error(`no facts were loaded for the fee ${charge.transferId}`);
    const stored = decided.get(charge.transferId) ?? facts.stored;
    if (stored !== null) return answerAgain(charge, stored);
    if ((facts.player?.accountId ?? null) !== charge.accountId) {
      return { kind: 'moved', accountId: facts.player?.accountId ?? null };
    }
    const pair = `${charge.accountId}:${programKeyOf(charge)}`;
    const charged = chargedByPair.get(pair) ?? facts.charged;
    const refusal = refusalOf(charge, { ...facts, charged }, book, batch);
    if (refusal === null) {
      post(charge, charged, book);
      chargedByPair.set(pair, withFee(charged, charge.feeCents));
      decided.set(charge.transferId, { state: 'posted', attemptId: charge.attemptId, postedAt: batch.now });
      return { kind: 'posted', postedAt: batch.now };
    }
    const { transferId: id, environment, attemptId } = charge;
    book.putTombstone({ id, environment, attemptId, refusalCode: refusal });
    decided.set(id, { state: 'tombstone', refusalCode: refusal });
    return { kind: 'refused', code: refusal };
  });

  return { results, changes: book.changes() };
}

/**
 * Applies rules 3 and 4 to the cached player. True if the fee may be posted, provided that it was
 * not decided before and the balance can pay it. The cached facts may be out of date, so the
 * statement that posts the fee checks them again.
 */
export function mayPay(
  { accountId, environment, requirement }: FeeCharge,
  player: KnownPlayer,
  { rules, now }: { readonly rules: EligibilityRules; readonly now: Date },
): boolean {
  if (player.accountId !== accountId) return false;
  return decideEligibility({ eligibility: player.eligibility, requirement, environment, rules, now }) === null;
}

function answerAgain(charge: FeeCharge, stored: StoredFee): FeeResult {
  if (stored.state === 'tombstone') return { kind: 'refused', code: stored.refusalCode ?? 'internal_error' };
  if (stored.attemptId !== charge.attemptId) {
    throw new Error(
      `the fee ${charge.transferId} was posted for the attempt ${stored.attemptId}, not for ${charge.attemptId}`,
    );
  }
  return { kind: 'posted', postedAt: stored.postedAt };
}

function refusalOf(
  { accountId, environment, requirement, feeCents }: FeeCharge,
  { player, charged }: FeeFacts,
  book: Book,
  { rules, now }: { readonly rules: EligibilityRules; readonly now: Date },
): FeeRefusalCode | null {
  if (accountId === null || player === null) return 'insufficient_funds';
  const refusal = decideEligibility({ eligibility: player.eligibility, requirement, environment, rules, now });
  if (refusal !== null) return refusal;
  if (exceedsFeeLimit(charged, feeCents)) return 'blocked';
  return book.balanceCents(playerLedgerId(accountId, environment)) < feeCents ? 'insufficient_funds' : null;
}

function post(
  { transferId, accountId, programId, environment, feeCents, attemptId }: FeeCharge,
  { limitCents: programLimitCents }: ChargedFees,
  book: Book,
): void {
  if (accountId === null) throw new Error(`the fee ${transferId} has no account to charge`);
  const ledgerId = playerLedgerId(accountId, environment);
  const charged = { programId, programLimitCents };
  book.post({ kind: 'fee', id: transferId, ledgerId, amountCents: feeCents, attemptId, ...charged });
}
