import { randomInt } from 'node:crypto';

/**
 * Names the seed, an integer, of a run's laws. To draw the cases of an earlier run again, set it to
 * the seed that the run printed.
 */
export const LAW_SEED_VARIABLE = 'LAUREL_LAW_SEED';

/** Names the factor by which each law draws more cases (`npm run test:laws`); 1 by default. */
export const LAW_TIMES_VARIABLE = 'LAUREL_LAW_TIMES';

const USUAL_SEED = 20_261_125;
const SEED_LIMIT = 2 ** 31;

/**
 * Sets the seed for all workers of this run: the usual seed, or a random one if the laws draw more
 * cases.
 */
export function chooseLawSeed(environment: NodeJS.ProcessEnv): void {
  const isLonger = environment[LAW_TIMES_VARIABLE] !== undefined;
  environment[LAW_SEED_VARIABLE] ??= String(isLonger ? randomInt(SEED_LIMIT) : USUAL_SEED);
  console.log(`Seed of the laws: ${LAW_SEED_VARIABLE}=${environment[LAW_SEED_VARIABLE]}`);
}
