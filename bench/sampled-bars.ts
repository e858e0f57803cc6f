// Bars that are derived from players' scores.
import { fairShareOf, intervalRanksOfBar, isCalibrated, rankOfBar } from '@laurel/challenge/domain/calibration';
import { claimOf } from '@laurel/challenge/domain/drift-monitor';
import {
  CONFIDENCE,
  judge,
  type Measured,
  meetsConfidence,
  percent,
  percents,
  rateInterval,
  SEED,
  shareOf,
  spread,
  type Table,
} from './bar-intervals.ts';
import { createRandom } from './mix.ts';
import { NORMAL, type Player, type Random, SHAPES, type Shape } from './score-shapes.ts';

type Terms = { readonly minCalibrationN: number; readonly minCalibrationPlayers: number };
type Sample = { readonly player: Player; readonly score: number };
type JudgedBar = { readonly rate: number; readonly isWithin: boolean; readonly isCovered: boolean };

const PLAYERS = 60;
/** With the number of samples that `min_calibration_n` has by default for that target. */
const TARGETS = [
  { target: 0.05, samples: 800 },
  { target: 0.2, samples: 200 },
  { target: 0.5, samples: 200 },
];

/**
 * Observed: each run belongs to a random player. Listened: a few players have most runs, and the
 * fair share limits what counts.
 */
const SOURCES = {
  observed: () => 1,
  listened: (index: number) => 1 / (index + 1),
} as const;

/**
 * Bars of samples: the player is drawn first, and a sample beyond a player's fair share does not
 * count.
 */
export function measureSampledBars(runs: number, targets = TARGETS): Measured {
  const rows: Table = [
    [
      'bars of samples',
      'target',
      'n',
      '99 % interval',
      '99 % of runs',
      'within',
      "bar's interval holds",
      'outside the band',
    ],
  ];
  let isWithin = true;
  for (const [source, weightOf] of Object.entries(SOURCES)) {
    for (const shape of SHAPES) {
      for (const { target, samples } of targets) {
        const random = createRandom(SEED);
        const bars = Array.from({ length: runs }, () => sampledBar(shape, target, samples, weightOf, random));
        const add = (name: string, judged: readonly JudgedBar[]) => {
          const { low, high } = claimOf(target);
          rows.push([
            `${source}, ${shape.name}${name}`,
            target,
            samples,
            percents(rateInterval(samples, rankOfBar(samples, target))),
            spread(judged),
            shareOf(judged, (one) => one.isWithin),
            shareOf(judged, (one) => one.isCovered),
            shareOf(judged, ({ rate }) => rate < low || rate > high),
          ]);
        };
        // If a player's scores correlate, the claim concerns the players who calibrated.
        const own = bars.map((bar) => bar.own);
        isWithin &&=
          meetsConfidence(own.map((one) => one.isWithin)) && meetsConfidence(own.map((one) => one.isCovered));
        add(shape.isIndependent ? '' : ', the same players', own);
        if (!shape.isIndependent)
          add(
            ', new players',
            bars.map((bar) => bar.others),
          );
      }
    }
  }
  return { rows, isWithin };
}

/**
 * One player has nine of ten runs and wants an extreme bar: the effect on the pass rate of all
 * others.
 */
export function measureFairShare(runs: number): Measured {
  const terms = { minCalibrationN: 200, minCalibrationPlayers: 20 };
  const rows: Table = [
    ["one player's 9 of 10 runs", 'counted of 200', 'pass rate of the others, median', '99 % of runs'],
  ];
  for (const [name, score] of [
    ['all impossible', Number.POSITIVE_INFINITY],
    ['all hopeless', Number.NEGATIVE_INFINITY],
  ] as const) {
    for (const share of [fairShareOf(terms), terms.minCalibrationN]) {
      const random = createRandom(SEED);
      const forger: Player = { score: () => score, reach: () => 0 };
      const rates = Array.from({ length: runs }, () => {
        const players = Array.from({ length: PLAYERS }, () => NORMAL.player(random));
        const pick = () => (random() < 0.9 ? forger : players[Math.floor(random() * PLAYERS)]) ?? forger;
        return { rate: NORMAL.reach(barOf(collect(pick, terms, share), 0.2)) };
      });
      const median = rates.map(({ rate }) => rate).toSorted((one, other) => one - other)[Math.floor(runs / 2)] ?? 0;
      rows.push([name, `at most ${share}`, percent(median), spread(rates)]);
    }
  }
  return { rows, isWithin: true };
}

function sampledBar(
  shape: Shape,
  target: number,
  samples: number,
  weightOf: (index: number) => number,
  random: Random,
): { readonly own: JudgedBar; readonly others: JudgedBar } {
  const terms = { minCalibrationN: samples, minCalibrationPlayers: 20 };
  const players = Array.from({ length: PLAYERS }, () => shape.player(random));
  const cumulated = players.map((_, index) =>
    players.slice(0, index + 1).reduce((sum, __, at) => sum + weightOf(at), 0),
  );
  const pick = () => {
    const drawn = random() * (cumulated.at(-1) ?? 1);
    return players[cumulated.findIndex((sum) => drawn < sum)] ?? shape.player(random);
  };
  const counted = collect(pick, terms, fairShareOf(terms));
  const best = sorted(counted);
  const rank = rankOfBar(best.length, target);
  const ends = intervalRanksOfBar(best.length, target, CONFIDENCE).map((end) => best[end - 1] ?? 0);
  const interval = rateInterval(best.length, rank);
  const same = (bar: number) => counted.reduce((sum, { player }) => sum + player.reach(bar), 0) / counted.length;
  const ofPlayers = shape.isIndependent ? shape : { reach: same, exceed: same };
  const judged = (by: Pick<Shape, 'reach' | 'exceed'>) => ({
    ...judge(by, best[rank - 1] ?? 0, interval),
    isCovered: by.exceed(ends[0] ?? 0) <= target && target <= by.reach(ends[1] ?? 0),
  });
  return { own: judged(ofPlayers), others: judged(shape) };
}

/** Plays until the calibration is complete. */
function collect(pick: () => Player, terms: Terms, fairShare: number): readonly Sample[] {
  const counts = new Map<Player, number>();
  const counted: Sample[] = [];
  while (!isCalibrated({ collected: counted.length, playersCollected: counts.size }, terms)) {
    const player = pick();
    const score = player.score();
    const count = counts.get(player) ?? 0;
    if (count === fairShare) continue;
    counts.set(player, count + 1);
    counted.push({ player, score });
  }
  return counted;
}

function sorted(samples: readonly Sample[]): Float64Array {
  return Float64Array.from(samples, ({ score }) => score)
    .sort()
    .reverse();
}

function barOf(samples: readonly Sample[], target: number): number {
  return sorted(samples)[rankOfBar(samples.length, target) - 1] ?? 0;
}
