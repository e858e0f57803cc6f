// Players and their scores, from distributions whose pass rates are known exactly.

export type Random = () => number;

export type Player = {
  readonly score: () => number;
  /** The share of this player's scores that is at least the bar; higher is better. */
  readonly reach: (bar: number) => number;
};

export type Shape = {
  readonly name: string;
  readonly player: (random: Random) => Player;
  /** The share of the scores of all players, present and future, that is at least the bar. */
  readonly reach: (bar: number) => number;
  /** The share above the bar: smaller only if scores tie. */
  readonly exceed: (bar: number) => number;
  /** Whether one player's scores differ as much as those of different players. */
  readonly isIndependent: boolean;
};

const MEAN = 100;
const DEVIATION = 15;
/** 36 % of the variance of all scores is between players. */
const SKILL = 9;
const NOISE = 12;
const TIED_SHARE = 0.72;
const CLUSTERS = [
  { share: 0.85, mean: 20, deviation: 3 },
  { share: 0.15, mean: 60, deviation: 5 },
] as const;

export const NORMAL = independent(
  'normal',
  (random) => MEAN + DEVIATION * normal(random),
  (bar) => upperTail((bar - MEAN) / DEVIATION),
);

export const LOGNORMAL = independent(
  'lognormal',
  (random) => Math.exp(3 + 0.8 * normal(random)),
  (bar) => (bar <= 0 ? 1 : upperTail((Math.log(bar) - 3) / 0.8)),
);

export const TWO_CLUSTERS = independent(
  'two clusters',
  (random) => {
    const { mean, deviation } = random() < CLUSTERS[0].share ? CLUSTERS[0] : CLUSTERS[1];
    return mean + deviation * normal(random);
  },
  (bar) =>
    CLUSTERS.reduce((total, { share, mean, deviation }) => total + share * upperTail((bar - mean) / deviation), 0),
);

/** Whole scores from 0: 28 % of those that reach one do not reach the next. */
export const TIES: Shape = {
  ...independent(
    'heavy ties',
    (random) => Math.floor(Math.log(1 - random()) / Math.log(TIED_SHARE)),
    (bar) => TIED_SHARE ** Math.max(0, Math.ceil(bar)),
  ),
  exceed: (bar) => TIED_SHARE ** Math.max(0, Math.floor(bar) + 1),
};

/**
 * Each player has a skill, and each run some luck, so the scores of one player resemble each other.
 */
export const SKILL_AND_LUCK: Shape = {
  name: 'skill and luck',
  player: (random) => {
    const skill = MEAN + SKILL * normal(random);
    return { score: () => skill + NOISE * normal(random), reach: (bar) => upperTail((bar - skill) / NOISE) };
  },
  reach: NORMAL.reach,
  exceed: NORMAL.exceed,
  isIndependent: false,
};

export const SHAPES = [NORMAL, LOGNORMAL, TWO_CLUSTERS, TIES, SKILL_AND_LUCK];

function independent(name: string, draw: (random: Random) => number, reach: (bar: number) => number): Shape {
  return {
    name,
    player: (random) => ({ score: () => draw(random), reach }),
    reach,
    exceed: reach,
    isIndependent: true,
  };
}

/** Box and Muller. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The chance of a normal value above z, to 1.2e-7 (Numerical Recipes, erfcc). */
function upperTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const coefficients = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  const exponent = coefficients.reduceRight((sum, coefficient) => sum * t + coefficient, 0);
  const tail = (t * Math.exp(-x * x + exponent)) / 2;
  return z >= 0 ? tail : 1 - tail;
}
