/**
 * What becomes of a batch of entry fees. Each is decided once, by its transfer id, in this order:
 *
 * 1. The id is posted already: the same answer, nothing is charged again.
 * 2. The id is fenced already: the same refusal, for ever.
 * 3. The ref names another account than the caller took it for: `moved`. Nothing is written and the id stays free.
 * 4. The person may not play for money: `blocked` or `insider_entry`.
 * 5. The balance cannot pay, or the ref has no account: `insufficient_funds`.
 * 6. The fee is posted.
 *
 * A refusal burns the id, so that a late duplicate of the same charge can never land. Fees of one batch see each other.
 */
import type { Cents } from '@laurel/money';
import {
  type Book,
  type Environment,
  type FeeRefusalCode,
  type LedgerChanges,
  openBook,
  type PlayerLedger,
  playerLedgerId,
} from './ledger.ts';
import { decideStanding, type Requirement, type Standing, type StandingRules } from './standing.ts';

/** One fee that is asked for. */
export type FeeCharge = {
  readonly transferId: string;
  readonly attemptId: string;
  readonly programId: string;
  readonly environment: Environment;
  readonly playerRef: string;
  /** The account that the caller took the ref to name; null for none. */
  readonly accountId: string | null;
  readonly feeCents: Cents;
  readonly requirement: Requirement;
};

/** What is stored under a fee's transfer id. */
export type StoredFee =
  | { readonly state: 'posted'; readonly attemptId: string; readonly postedAt: Date }
  /** Without a refusal the fee was given up unheard: its attempt died before the charge arrived. */
  | { readonly state: 'fenced'; readonly refusalCode: FeeRefusalCode | null };

/** The person behind a ref. */
export type KnownPlayer = { readonly accountId: string; readonly standing: Standing };

/** What is known about one charge, read after the player's row was locked. */
export type FeeFacts = {
  readonly stored: StoredFee | null;
  /** The person behind the ref now; null for none. */
  readonly player: KnownPlayer | null;
};

export type FeeResult =
  | { readonly kind: 'posted'; readonly postedAt: Date }
  | { readonly kind: 'refused'; readonly code: FeeRefusalCode | 'internal_error' }
  | { readonly kind: 'moved'; readonly accountId: string | null };

/** One result a charge, in order, and what is to be written. */
export function decideFees(batch: {
  readonly charges: readonly FeeCharge[];
  readonly facts: readonly FeeFacts[];
  readonly locked: readonly PlayerLedger[];
  readonly rules: StandingRules;
  readonly now: Date;
}): { readonly results: readonly FeeResult[]; readonly changes: LedgerChanges } {
  const book = openBook(batch.locked);
  // The same id twice in one batch: the second finds what the first left.
  const decided = new Map<string, StoredFee>();

  const results = batch.charges.map((charge, index): FeeResult => {
    const facts = batch.facts[index];
    if (facts === undefined) throw new Error(`no facts were loaded for the fee ${charge.transferId}`);
    const stored = decided.get(charge.transferId) ?? facts.stored;
    if (stored !== null) return answerAgain(charge, stored);
    if ((facts.player?.accountId ?? null) !== charge.accountId) {
      return { kind: 'moved', accountId: facts.player?.accountId ?? null };
    }
    const refusal = refusalOf(charge, facts, book, batch);
    if (refusal === null) {
      post(charge, book);
      decided.set(charge.transferId, { state: 'posted', attemptId: charge.attemptId, postedAt: batch.now });
      return { kind: 'posted', postedAt: batch.now };
    }
    const { transferId: id, environment, attemptId } = charge;
    book.fence({ id, environment, attemptId, refusalCode: refusal });
    decided.set(id, { state: 'fenced', refusalCode: refusal });
    return { kind: 'refused', code: refusal };
  });

  return { results, changes: book.changes() };
}

/**
 * Whether the fee may be posted unless it was decided already or the balance cannot pay, given who the player was when last seen: rules 3
 * and 4. The answer is worth as much as what it is based on, so whoever posts on it makes sure in the same statement that it still holds.
 */
export function mayPay(
  { accountId, environment, requirement }: FeeCharge,
  player: KnownPlayer,
  { rules, now }: { readonly rules: StandingRules; readonly now: Date },
): boolean {
  if (player.accountId !== accountId) return false;
  return decideStanding({ standing: player.standing, requirement, environment, rules, now }) === null;
}

function answerAgain(charge: FeeCharge, stored: StoredFee): FeeResult {
  if (stored.state === 'fenced') return { kind: 'refused', code: stored.refusalCode ?? 'internal_error' };
  if (stored.attemptId !== charge.attemptId) {
    throw new Error(
      `the fee ${charge.transferId} was posted for the attempt ${stored.attemptId}, not for ${charge.attemptId}`,
    );
  }
  return { kind: 'posted', postedAt: stored.postedAt };
}

function refusalOf(
  { accountId, environment, requirement, feeCents }: FeeCharge,
  { player }: FeeFacts,
  book: Book,
  { rules, now }: { readonly rules: StandingRules; readonly now: Date },
): FeeRefusalCode | null {
  if (accountId === null || player === null) return 'insufficient_funds';
  const refusal = decideStanding({ standing: player.standing, requirement, environment, rules, now });
  if (refusal !== null) return refusal;
  return book.balanceCents(playerLedgerId(accountId, environment)) < feeCents ? 'insufficient_funds' : null;
}

function post({ transferId, accountId, environment, feeCents, attemptId }: FeeCharge, book: Book): void {
  if (accountId === null) throw new Error(`the fee ${transferId} has no account to charge`);
  const ledgerId = playerLedgerId(accountId, environment);
  book.post({ kind: 'fee', id: transferId, ledgerId, amountCents: feeCents, attemptId });
}
