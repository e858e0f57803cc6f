/** Challenges and tournaments, as operators see them. */
import { only, type RouteExamples } from './example.ts';
import { challengeTerms, operatorChallenge, operatorTournament, tournamentTerms } from './own-story.ts';
import { CHALLENGE_ID, runningRound } from './story.ts';

const evidence = { attempts: 412, passes: 87, pass_rate: 0.2112, log_ratio_above: -1.84, log_ratio_below: -2.31 };

export const OPERATOR_GAME_EXAMPLES: Readonly<Record<string, RouteExamples>> = {
  createChallenge: {
    request: {
      calibrating: { summary: 'One that calibrates first', value: challengeTerms },
      live: { summary: 'One whose bar is known', value: { ...challengeTerms, status: 'live', threshold: 59.8 } },
    },
    response: only('Live', operatorChallenge),
  },
  getChallenge: { response: only('Live', operatorChallenge) },
  changeChallenge: {
    request: only('Reinstate it after drift', {
      status: 'live',
      note: 'The patch that made the track faster is undone.',
    }),
    response: only('Live again', operatorChallenge),
  },
  getCalibration: {
    response: only('Of a challenge whose bar was observed', {
      challenge_id: CHALLENGE_ID,
      samples: 200,
      players: 31,
      fair_share: 10,
      required: { samples: 200, players: 20 },
      quantiles: [
        { share: 0.05, score: 57.9 },
        { share: 0.5, score: 64.2 },
        { share: 0.95, score: 83.1 },
      ],
      histogram: [
        { from: 55.1, to: 70.1, samples: 151 },
        { from: 70.1, to: 85.1, samples: 49 },
      ],
      bar: 59.8,
      bar_interval: { low: 58.9, high: 60.9 },
      seeded: null,
    }),
  },
  getDrift: {
    response: only('The claim holds', {
      challenge_id: CHALLENGE_ID,
      status: 'live',
      started_at: '2026-11-15T10:00:00.000Z',
      ...evidence,
      claimed: { low: 0.1333, high: 0.3 },
      log_limit: 7.6,
      attempts_before_judging: 50,
      readings: [{ ...evidence, read_at: '2026-11-21T12:04:11.318Z' }],
      changes: [
        {
          changed_at: '2026-11-15T10:00:00.000Z',
          from: 'calibrating',
          to: 'live',
          cause: 'calibrated',
          note: null,
          evidence: null,
        },
      ],
    }),
  },
  createTournament: {
    request: only('A round every hour', tournamentTerms),
    response: only('Its first round is open', operatorTournament),
  },
  changeTournament: {
    request: only('Pause it', { status: 'paused' }),
    response: only('Paused', { ...operatorTournament, status: 'paused' }),
  },
  openRound: {
    request: only('A round of an hour', {
      opens_at: '2026-11-21T12:00:00.000Z',
      closes_at: '2026-11-21T13:00:00.000Z',
    }),
    response: only('Open', { ...runningRound, entrant_count: 0 }),
  },
};
