/**
 * Vitest's set-up of each worker: every law (a fast-check property) draws its cases from the run's
 * seed, so that no change is refused by a case that another run would not have drawn. `npm run
 * test:laws` looks for new cases.
 */
import fc from 'fast-check';
import { LAW_SEED_VARIABLE } from './law-runs.ts';

fc.configureGlobal({ seed: Number(process.env[LAW_SEED_VARIABLE]) });
