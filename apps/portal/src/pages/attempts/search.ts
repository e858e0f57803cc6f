import { ATTEMPT_STATUSES } from '../../attempts/filters.ts';
import { choice, filters, id, text } from '../../kit/filters.ts';

export const readSearch = filters({
  status: choice(...ATTEMPT_STATUSES),
  challenge_id: id(),
  tournament_round_id: id(),
  player_ref: text(),
});
