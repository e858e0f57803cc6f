import { randomInt } from 'node:crypto';

/**
 * The integer seed of a run's laws. To draw the cases of another run again, set it to what that run
 * printed.
 */
export const LAW_SEED_VARIABLE = 'LAUREL_LAW_SEED';

/** How many times as many cases each law draws (`npm run test:laws`); 1 by default. */
export const LAW_TIMES_VARIABLE = 'LAUREL_LAW_TIMES';

const USUAL_SEED = 20_261_125;
const SEED_LIMIT = 2 ** 31;

/**
 * Sets the seed for all workers of this run: the usual one, or a fresh one if the laws run longer.
 */
export function chooseLawSeed(environment: NodeJS.ProcessEnv): void {
  const isLonger = environment[LAW_TIMES_VARIABLE] !== undefined;
  environment[LAW_SEED_VARIABLE] ??= String(isLonger ? randomInt(SEED_LIMIT) : USUAL_SEED);
  console.log(`Seed of the laws: ${LAW_SEED_VARIABLE}=${environment[LAW_SEED_VARIABLE]}`);
}
