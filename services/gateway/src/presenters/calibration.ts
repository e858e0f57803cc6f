/** A challenge's calibration as an operator sees it (docs/contract/portal-api.md, "Challenges"). */
import type { GetCalibrationResponse } from '@laurel/proto/challenge';

export function presentCalibration(calibration: GetCalibrationResponse) {
  const { challenge, bar, barInterval, seeded } = calibration;
  if (challenge?.terms === undefined) throw new Error('the challenge service sent a calibration without its challenge');
  const { minCalibrationN, minCalibrationPlayers } = challenge.terms;
  return {
    challenge_id: challenge.id,
    samples: Number(calibration.samples),
    players: Number(calibration.players),
    fair_share: Number(calibration.fairShare),
    required: { samples: minCalibrationN, players: minCalibrationPlayers },
    quantiles: calibration.quantiles.map(({ share, score }) => ({ share, score })),
    histogram: calibration.histogram.map(({ from, to, samples }) => ({ from, to, samples: Number(samples) })),
    bar: bar ?? null,
    bar_interval: barInterval === undefined ? null : { low: barInterval.low, high: barInterval.high },
    seeded:
      seeded === undefined
        ? null
        : {
            p5: seeded.p5,
            p25: seeded.p25,
            p50: seeded.p50,
            p75: seeded.p75,
            p95: seeded.p95,
            sample_size: Number(calibration.seededSampleSize),
          },
  };
}
