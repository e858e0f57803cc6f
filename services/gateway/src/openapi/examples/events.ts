/** What the events of the recorded story look like. */
import { recordedResponse } from './partner-examples.ts';

interface RecordedAttempt {
  readonly id: string;
  readonly challenge_id: string | null;
  readonly tournament_round_id: string | null;
  readonly player_ref: string;
  readonly fee_charged: string;
}

interface RecordedWin extends RecordedAttempt {
  readonly outcome: {
    readonly score: number;
    readonly recorded_at: string;
    readonly award: { readonly id: string; readonly amount: string };
  };
}

interface RecordedRound {
  readonly id: string;
  readonly tournament_id: string;
  readonly settled_at: string;
  readonly purse_amount: string;
}

const won = recordedResponse<RecordedWin>('getAttempt', 'settled');
const expired = recordedResponse<RecordedAttempt>('getAttempt', 'expired');
const {
  data: [challenge],
} = recordedResponse<{ data: [{ name: string }] }>('listChallenges', 'live');
const { round, scored_players } = recordedResponse<{ round: RecordedRound; scored_players: number }>(
  'getLeaderboard',
  'settled',
);

/** The attempt that an event is about. */
const about = ({ id, challenge_id, tournament_round_id, player_ref }: RecordedAttempt) => ({
  attempt_id: id,
  challenge_id,
  tournament_round_id,
  player_ref,
});
// In an event money is a number.
const award = { id: won.outcome.award.id, amount: Number(won.outcome.award.amount), payout_status: 'paid' };
const ofRound = { tournament_round_id: round.id, tournament_id: round.tournament_id };

/** The data of each event, and when it happened. */
export const EVENT_EXAMPLES = {
  'webhook.test': {
    timestamp: '2026-11-21T11:58:03.740Z',
    data: { message: 'This is a test of your endpoint, sent from the developer portal.' },
  },
  'attempt.settled': {
    timestamp: won.outcome.recorded_at,
    data: {
      ...about(won),
      score: won.outcome.score,
      met_threshold: true,
      award,
      recorded_at: won.outcome.recorded_at,
    },
  },
  'attempt.refunded': {
    timestamp: round.settled_at,
    data: { ...about(expired), amount: Number(expired.fee_charged), reason: 'round_closed' },
  },
  'challenge.suspended': {
    timestamp: '2026-11-21T14:10:00.018Z',
    data: { challenge_id: won.challenge_id, name: challenge.name },
  },
  'round.settled': {
    timestamp: round.settled_at,
    data: { ...ofRound, ranked_players: scored_players, purse: Number(round.purse_amount) },
  },
  'round.cancelled': { timestamp: round.settled_at, data: ofRound },
  'award.released': { timestamp: '2026-11-22T09:30:12.251Z', data: { award, ...about(won) } },
} as const;
