/** What the events look like. */
import {
  AWARD_ID,
  CHALLENGE_ATTEMPT_ID,
  CHALLENGE_ID,
  PLAYER_REF,
  ROUND_ATTEMPT_ID,
  ROUND_ID,
  TOURNAMENT_ID,
} from './story.ts';

const refundedAttempt = {
  attempt_id: ROUND_ATTEMPT_ID,
  challenge_id: null,
  tournament_round_id: ROUND_ID,
  player_ref: PLAYER_REF,
  amount: 2.25,
};

/** The data of each event, and when it happened. */
export const EVENT_EXAMPLES = {
  'webhook.test': {
    timestamp: '2026-11-21T11:58:03.740Z',
    data: { message: 'This is a test of your endpoint, sent from the developer portal.' },
  },
  'attempt.settled': {
    timestamp: '2026-11-21T12:04:11.318Z',
    data: {
      attempt_id: CHALLENGE_ATTEMPT_ID,
      challenge_id: CHALLENGE_ID,
      tournament_round_id: null,
      player_ref: PLAYER_REF,
      score: 58.214,
      met_threshold: true,
      award: { id: AWARD_ID, amount: 12.75, payout_status: 'paid' },
      recorded_at: '2026-11-21T12:04:11.318Z',
    },
  },
  'attempt.refunded': { timestamp: '2026-11-21T13:00:02.604Z', data: { ...refundedAttempt, reason: 'round_closed' } },
  'challenge.suspended': {
    timestamp: '2026-11-21T14:10:00.018Z',
    data: { challenge_id: CHALLENGE_ID, name: 'One lap under a minute' },
  },
  'round.settled': {
    timestamp: '2026-11-21T13:00:04.117Z',
    data: { tournament_round_id: ROUND_ID, tournament_id: TOURNAMENT_ID, ranked_players: 3, purse: 40.25 },
  },
  'round.cancelled': {
    timestamp: '2026-11-21T13:00:04.117Z',
    data: { tournament_round_id: ROUND_ID, tournament_id: TOURNAMENT_ID },
  },
  'award.released': {
    timestamp: '2026-11-22T09:30:12.251Z',
    data: {
      award: { id: AWARD_ID, amount: 12.75, payout_status: 'paid' },
      attempt_id: CHALLENGE_ATTEMPT_ID,
      challenge_id: CHALLENGE_ID,
      tournament_round_id: null,
      player_ref: PLAYER_REF,
    },
  },
} as const;
