/**
 * Replaces `fast-check` in `npm run test:laws` by the same library, except that properties draw
 * LAUREL_LAW_TIMES times as many cases.
 */
import { createRequire } from 'node:module';
import type * as FastCheck from 'fast-check';
import { LAW_TIMES_VARIABLE } from './law-runs.ts';

const USUAL_RUNS = 100;
const times = Number(process.env[LAW_TIMES_VARIABLE]);
// `require` instead of `import`, which the alias in vitest.config.ts would lead back to this file.
const fc: typeof FastCheck = createRequire(import.meta.url)('fast-check');

function longer<T>(parameters: FastCheck.Parameters<T> = {}): FastCheck.Parameters<T> {
  return { ...parameters, numRuns: (parameters.numRuns ?? USUAL_RUNS) * times };
}

const assert = (<T>(property: FastCheck.IRawProperty<T>, parameters?: FastCheck.Parameters<T>) =>
  fc.assert(property, longer(parameters))) as typeof fc.assert;
const check = (<T>(property: FastCheck.IRawProperty<T>, parameters?: FastCheck.Parameters<T>) =>
  fc.check(property, longer(parameters))) as typeof fc.check;

export default { ...fc, assert, check };
