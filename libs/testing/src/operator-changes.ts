/**
 * The routes by which an operator changes something, by the route's name in the log of operator
 * actions. The gateway's tests check that the list is complete.
 */
export const OPERATOR_CHANGES = {
  sign_in: 'POST /session',
  sign_out: 'DELETE /session',
  create_developer: 'POST /developers',
  create_sign_in_link: 'POST /developers/{developerId}/sign-in-link',
  create_program: 'POST /programs',
  approve_program: 'POST /programs/{programId}/approve',
  replace_live_key: 'POST /programs/{programId}/live-key',
  change_program: 'PATCH /programs/{programId}',
  change_program_limits: 'PATCH /programs/{programId}/limits',
  add_insider: 'POST /programs/{programId}/insiders',
  remove_insider: 'DELETE /programs/{programId}/insiders/{accountId}',
  create_account: 'POST /accounts',
  change_account: 'PATCH /accounts/{accountId}',
  deposit: 'POST /accounts/{accountId}/deposits',
  sever_player_links: 'DELETE /accounts/{accountId}/player-links/{programId}',
  lift_severance: 'POST /accounts/{accountId}/player-links/{programId}/lift',
  create_challenge: 'POST /programs/{programId}/challenges',
  change_challenge: 'PATCH /challenges/{challengeId}',
  create_tournament: 'POST /programs/{programId}/tournaments',
  change_tournament: 'PATCH /tournaments/{tournamentId}',
  open_round: 'POST /tournaments/{tournamentId}/rounds',
  cancel_round: 'POST /rounds/{roundId}/cancel',
  release_payout: 'POST /payouts/{awardId}/release',
  deny_payout: 'POST /payouts/{awardId}/deny',
  void_attempt: 'POST /attempts/{attemptId}/void',
} as const;

export type OperatorChange = keyof typeof OPERATOR_CHANGES;
