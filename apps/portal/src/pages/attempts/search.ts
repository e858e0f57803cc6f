import { choice, filters, text } from '../../kit/filters.ts';

export const ATTEMPT_STATUSES = ['open', 'settled', 'expired', 'voided'] as const;

export const readSearch = filters({
  status: choice(...ATTEMPT_STATUSES),
  challenge_id: text(),
  tournament_round_id: text(),
  player_ref: text(),
});
