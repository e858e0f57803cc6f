import { it } from 'vitest';
import { useHarness } from '../tournament.fixture.ts';
import { expectSettled } from './many-entrants.fixture.ts';

const h = useHarness();

// many-entrants.long.test.ts does the same with 5,000.
it('a round of 300 entrants settles with each entrant at the right rank', () =>
  expectSettled(h, 300, [0, 29, 30, 299]));
