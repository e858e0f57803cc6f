/** One flow in five wins. */
const FLOWS_PER_WIN = 5;
/**
 * Two flows win in each block of this many consecutive flows, so any window of 50 has 8 to 12 wins.
 */
const BLOCK = 2 * FLOWS_PER_WIN;
/** The size of the windows in which a run counts its own wins. */
export const WINDOW = 50;
const LEAST_WINS = 5;
const MOST_WINS = 15;
/** A fixed seed, so that the same flows win in every run. */
const SEED = 20_261_122;

/**
 * How a flow ended. An entry of a round never wins; a failed flow had an unexpected response, or
 * none.
 */
export type FlowResult = 'won' | 'lost' | 'failed';

/** Returns a function to call once as each flow starts; its result is whether that flow wins. */
export function createWinSequence(random: () => number = createRandom(SEED)): () => boolean {
  let position = 0;
  let winning: readonly number[] = [];
  return () => {
    if (position % BLOCK === 0) {
      const first = Math.floor(random() * BLOCK);
      winning = [first, (first + 1 + Math.floor(random() * (BLOCK - 1))) % BLOCK];
    }
    const wins = winning.includes(position % BLOCK);
    position += 1;
    return wins;
  };
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The fewest and the most wins of any 50 consecutive flows; undefined for fewer flows. */
export interface WindowWins {
  readonly least: number;
  readonly most: number;
}

/** `results` are in the order in which the flows started. */
export function winsInWindows(results: readonly FlowResult[]): WindowWins | undefined {
  if (results.length < WINDOW) return undefined;
  let wins = 0;
  let least = WINDOW;
  let most = 0;
  results.forEach((result, index) => {
    if (result === 'won') wins += 1;
    if (results[index - WINDOW] === 'won') wins -= 1;
    if (index < WINDOW - 1) return;
    least = Math.min(least, wins);
    most = Math.max(most, wins);
  });
  return { least, most };
}

/**
 * Whether wins and losses were mixed throughout. If not, or if a run is shorter than a window, it
 * says nothing about paid flows.
 */
export function isMixed(wins: WindowWins | undefined): boolean {
  return wins !== undefined && wins.least >= LEAST_WINS && wins.most <= MOST_WINS;
}

/**
 * Returns how many challenges a player needs for this many flows: a challenge pays a player once.
 */
export function challengesNeeded(flows: number): number {
  return Math.ceil(flows / FLOWS_PER_WIN);
}

/** A player's losses before a win. */
export const LOSSES_PER_WIN = FLOWS_PER_WIN - 1;

/** A run's flows, in the order of their start. */
export interface Flows {
  readonly results: readonly FlowResult[];
  readonly latenciesMs: readonly number[];
}

export function countOf({ results }: Flows, ...kinds: readonly FlowResult[]): number {
  return results.filter((result) => kinds.includes(result)).length;
}

export function latenciesOf({ results, latenciesMs }: Flows, ...kinds: readonly FlowResult[]): number[] {
  return latenciesMs.filter((_, index) => kinds.includes(results[index] ?? 'failed'));
}
