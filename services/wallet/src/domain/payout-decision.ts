/**
 * The decision on a batch of payouts: of challenge awards, and of ranks of round purses.
 *
 * - Each payout is decided once, by its award id: paid immediately, or held (payout-hold.ts). A
 *   repeat returns the payout's current state and moves no money.
 * - A request with the id of a decided payout and another win, program, environment, account or
 *   amount is not a repeat. The decision throws, so that a contest service never takes another
 *   payout for its own.
 * - No credit is ever refused: the prize is owed.
 * - Exactly one payout consumes the sandbox's "hold the next award", even if it is held for another
 *   reason.
 */

import { awardTransferId } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import { type LedgerChanges, openBook, type PlayerLedger, type Posting, playerLedgerId } from './ledger.ts';
import {
  type ContestServiceHold,
  decideHold,
  type HoldReason,
  type ProgramPayouts,
  type RecentPayouts,
  type VelocityLimits,
  withPayout,
  withProgramPayout,
} from './payout-hold.ts';
import { type ProgramName, programKeyOf } from './program-limits.ts';

/** What the player won: a challenge, by an attempt, or a rank of a round. */
export type Win =
  | { readonly kind: 'award'; readonly attemptId: string }
  | { readonly kind: 'purse'; readonly roundId: string };

export type PayoutRequest = Win & {
  readonly awardId: string;
  readonly programId: string;
  readonly environment: Environment;
  readonly accountId: string;
  readonly amountCents: Cents;
  /**
   * Why the contest service holds the payout; absent if the wallet alone decides. Only the first
   * decision uses the reason; a repeat with another reason changes nothing.
   */
  readonly contestServiceHold?: ContestServiceHold;
};

/** One payout in its current state. Its money has moved only if it is paid. */
export type Payout = PayoutRequest & {
  readonly status: 'paid' | 'held' | 'denied';
  readonly reason: HoldReason | null;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
  /** Present only if the payout is denied. */
  readonly deniedAt?: Date;
};

/** The stored facts about one payout, read after the player's row was locked. */
export type PayoutFacts = {
  readonly stored: Payout | null;
  readonly enforcementFlag: boolean;
  readonly underInvestigation: boolean;
  /** The account's payouts of the last 24 hours, without this batch. */
  readonly recent: RecentPayouts;
  /** The program's payouts of the last 24 hours, read after its row was locked. */
  readonly program: ProgramPayouts;
};

/** What a batch paid for one program. */
export type ProgramChange = ProgramName & { readonly paidCents: Cents };

/**
 * A request repeats the id of a payout that was decided on other terms: a bug of the contest
 * service, or its database lost acknowledged commits.
 */
export class PayoutTermsError extends Error {
  override readonly name = 'PayoutTermsError';
}

/** A payout with its program's limit at the decision; null if no limit applied. */
export type DecidedPayout = Payout & { readonly programLimitCents: Cents | null };

export type PayoutDecision = {
  readonly payouts: readonly Payout[];
  /** The payouts that this batch decided. */
  readonly fresh: readonly DecidedPayout[];
  readonly programs: readonly ProgramChange[];
  readonly changes: LedgerChanges;
};

/** Returns the payout of each request, in order, and the changes to write. */
export function decidePayouts(batch: {
  readonly payments: readonly PayoutRequest[];
  readonly facts: readonly PayoutFacts[];
  readonly locked: readonly PlayerLedger[];
  readonly limits: VelocityLimits;
  readonly now: Date;
}): PayoutDecision {
  const { limits, now } = batch;
  const book = openBook(batch.locked);
  const decided = new Map<string, Payout>();
  const fresh: DecidedPayout[] = [];
  const recentByLedger = new Map<string, RecentPayouts>();
  const programs = new Map<string, ProgramPayouts>();
  const paidByProgram = new Map<string, ProgramChange>();

  const payouts = batch.payments.map((payment, index): Payout => {
    const facts = batch.facts[index];
    if (facts === undefined) throw new Error(`no facts were loaded for the payout ${payment.awardId}`);
    const stored = decided.get(payment.awardId) ?? facts.stored;
    if (stored !== null) return answerAgain(payment, stored);

    const ledgerId = playerLedgerId(payment.accountId, payment.environment);
    const recent = recentByLedger.get(ledgerId) ?? facts.recent;
    const sandboxHold = book.holdsNextAward(ledgerId);
    const { kind, amountCents, contestServiceHold } = payment;
    const held = contestServiceHold === undefined ? {} : { contestServiceHold };
    const programKey = programKeyOf(payment);
    const program = programs.get(programKey) ?? facts.program;
    const reason = decideHold({ ...facts, ...held, kind, sandboxHold, recent, program, amountCents, limits });
    if (sandboxHold) book.releaseNextAward(ledgerId);
    if (reason === null) {
      book.post(postingOf(payment));
      recentByLedger.set(ledgerId, withPayout(recent, amountCents));
      programs.set(programKey, withProgramPayout(program, amountCents));
      paidByProgram.set(programKey, withPaid(paidByProgram.get(programKey), payment));
    }
    const payout: Payout =
      reason === null ? paidPayout(payment, now) : { ...payment, status: 'held', reason, createdAt: now, paidAt: null };
    const programLimitCents = reason === null && kind === 'award' ? program.limitCents : null;
    decided.set(payment.awardId, payout);
    fresh.push({ ...payout, programLimitCents });
    return payout;
  });

  return { payouts, fresh, programs: [...paidByProgram.values()], changes: book.changes() };
}

function withPaid(before: ProgramChange | undefined, payment: PayoutRequest): ProgramChange {
  const { programId, environment, amountCents } = payment;
  return { programId, environment, paidCents: cents((before?.paidCents ?? 0n) + amountCents) };
}

function answerAgain(payment: PayoutRequest, stored: Payout): Payout {
  const differing = (Object.entries(termsOf(stored)) as [keyof Terms, unknown][])
    .filter(([term, value]) => termsOf(payment)[term] !== value)
    .map(([term]) => term);
  if (differing.length === 0) return stored;
  throw new PayoutTermsError(`the payout ${payment.awardId} was decided with another ${differing.join(', ')}`);
}

type Terms = ReturnType<typeof termsOf>;

function termsOf(payout: PayoutRequest) {
  const { kind, programId, environment, accountId, amountCents } = payout;
  const wonBy = payout.kind === 'award' ? payout.attemptId : payout.roundId;
  return { kind, wonBy, programId, environment, accountId, amountCents };
}

/** The payout, paid, because no rule holds it. */
export function paidPayout(payment: PayoutRequest, now: Date): Payout {
  return { ...payment, status: 'paid', reason: null, createdAt: now, paidAt: now };
}

/** The transfer that pays the payout. */
export function postingOf(payment: PayoutRequest): Posting {
  const { awardId, accountId, environment, amountCents } = payment;
  const id = awardTransferId(awardId);
  const ledgerId = playerLedgerId(accountId, environment);
  return payment.kind === 'award'
    ? { kind: 'award', id, ledgerId, amountCents, awardId, attemptId: payment.attemptId }
    : { kind: 'purse', id, ledgerId, amountCents, awardId, roundId: payment.roundId };
}
