import { it } from 'vitest';
import { useHarness } from '../tournament.fixture.ts';
import { expectSettled } from './many-entrants.fixture.ts';

const h = useHarness();

it('a round of 5,000 entrants settles within seconds, each entrant at the right rank', () =>
  // Blocks of the tree have 1,024 leaves. These are both sides of each border, and the ends.
  expectSettled(h, 5_000, [0, 1_023, 1_024, 2_047, 2_048, 4_095, 4_096, 4_999]));
