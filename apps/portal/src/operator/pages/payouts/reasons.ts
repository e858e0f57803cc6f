/** Why Laurel held a payout: docs/contract/portal-api.md, "Payouts and attempts". */
const REASONS: Readonly<Record<string, string>> = {
  challenge_suspended: 'The drift monitor had suspended the challenge when the player won.',
  enforcement_flag: 'The account has the enforcement flag.',
  under_investigation: 'The account is under investigation.',
  sandbox_hold: 'The partner asked the sandbox to hold it.',
  payout_velocity: 'The account won too often, or too much, in 24 hours.',
  program_velocity: 'The payouts of the program would have exceeded its limit of 24 hours.',
};

/** Explains a reason. A reason that only a newer Laurel knows is shown as plain words. */
export function explainReason(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}
