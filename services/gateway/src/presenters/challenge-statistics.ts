/**
 * The statistics of a challenge as the program's developer sees them (docs/contract/portal-api.md,
 * "Contests of a program").
 */

import type { GetChallengeStatisticsResponse, PassRate } from '@laurel/proto/challenge';
import { nameOf, SCORE_SOURCES } from '@laurel/proto/enum-names';
import { formatAmount } from '@laurel/values/money';
import { presentMonitor, presentStatusChanges } from './drift.ts';
import { timestamp } from './timestamp.ts';

export function presentStatistics(statistics: GetChallengeStatisticsResponse) {
  const { drift, scores, passRate, passRates, ramp, rampCompletedAt, barSoFar } = statistics;
  const challenge = drift?.challenge;
  if (drift === undefined || challenge?.terms === undefined || scores === undefined || passRate === undefined)
    throw new Error('the challenge service sent incomplete statistics');
  const { calibration } = challenge;
  return {
    scores: {
      count: Number(scores.count),
      from: scores.bins[0]?.from ?? null,
      to: scores.bins.at(-1)?.to ?? null,
      bins: scores.bins.map(({ from, to, samples }) => ({ from, to, count: Number(samples) })),
      threshold: challenge.threshold ?? null,
      source: nameOf(SCORE_SOURCES, scores.source),
      complete: scores.isComplete,
    },
    pass_rate: {
      target: challenge.terms.targetPassRate,
      ...presentRate(passRate),
      over_time: passRates.map((rate) => ({ at: timestamp(rate.at), ...presentRate(rate) })),
    },
    calibration:
      calibration === undefined
        ? null
        : {
            collected: calibration.collected,
            required: calibration.required,
            players_collected: calibration.playersCollected,
            players_required: calibration.playersRequired,
            bar_so_far: barSoFar ?? null,
          },
    ramp:
      ramp === undefined
        ? null
        : {
            full_prize: formatAmount(ramp.fullPrizeCents),
            offered_prize: formatAmount(challenge.offeredPrizeCents),
            attempts_seen: Number(ramp.attemptsSeen),
            attempts_required: Number(ramp.attemptsRequired),
            completed_at: rampCompletedAt === undefined ? null : timestamp(rampCompletedAt),
          },
    drift: presentMonitor(drift),
    status_changes: presentStatusChanges(drift),
  };
}

function presentRate(rate: PassRate) {
  const [attempts, passes] = [Number(rate.attempts), Number(rate.passes)];
  return {
    attempts,
    passes,
    observed: attempts === 0 ? null : passes / attempts,
    low: rate.low ?? null,
    high: rate.high ?? null,
  };
}
