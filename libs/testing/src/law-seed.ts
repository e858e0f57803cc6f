/**
 * Vitest's set-up of each worker. Every law (a fast-check property) draws its cases from the run's
 * seed, so that every run of the tests draws the same cases. Only `npm run test:laws` looks for new
 * cases.
 */
import fc from 'fast-check';
import { LAW_SEED_VARIABLE } from './law-runs.ts';

fc.configureGlobal({ seed: Number(process.env[LAW_SEED_VARIABLE]) });
