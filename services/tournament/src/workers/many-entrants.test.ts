import { it } from 'vitest';
import { useHarness } from '../tournament.fixture.ts';
import { expectSettled } from './many-entrants.fixture.ts';

const h = useHarness();

// 5,000 are in many-entrants.long.test.ts.
it('a round of 300 entrants settles, each at its rank, and each receipt under the seal', () =>
  expectSettled(h, 300, [0, 29, 30, 299]));
