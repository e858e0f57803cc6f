/**
 * The contest services, and the checks of the operator's audit that compare each of them with the
 * wallet.
 */

export const CONTEST_SERVICES = ['challenge', 'tournament'] as const;
export type ContestService = (typeof CONTEST_SERVICES)[number];

export const CHECKS = {
  challenge: {
    feeWithoutAttempt: 'posted_fee_has_its_attempt',
    attemptWithoutFee: 'visible_attempt_has_its_fee',
    refund: 'refunded_exactly_when_ended',
    payoutWithoutAward: 'payout_has_its_award',
    awardWithoutPayout: 'award_has_its_payout',
  },
  tournament: {
    feeWithoutAttempt: 'posted_entry_fee_has_its_attempt',
    attemptWithoutFee: 'visible_entry_has_its_fee',
    refund: 'entry_is_refunded_exactly_when_ended',
    payoutWithoutAward: 'purse_payout_has_its_rank',
    awardWithoutPayout: 'purse_has_its_payout',
  },
} as const;
