import { randomInt } from 'node:crypto';

/** A run's seed of its laws, an integer; to draw the cases of another run again, set it to what that run printed. */
export const LAW_SEED_VARIABLE = 'LAUREL_LAW_SEED';

/** How many times as many cases each law draws (`npm run test:laws`); 1 where it is not set. */
export const LAW_TIMES_VARIABLE = 'LAUREL_LAW_TIMES';

const USUAL_SEED = 20_261_125;
const SEED_LIMIT = 2 ** 31;

/** Sets the seed for all workers of this run: the usual one, or a fresh one where the laws run longer. */
export function chooseLawSeed(environment: NodeJS.ProcessEnv): void {
  const isLonger = environment[LAW_TIMES_VARIABLE] !== undefined;
  environment[LAW_SEED_VARIABLE] ??= String(isLonger ? randomInt(SEED_LIMIT) : USUAL_SEED);
  console.log(`Seed of the laws: ${LAW_SEED_VARIABLE}=${environment[LAW_SEED_VARIABLE]}`);
}
