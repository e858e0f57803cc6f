import { expect, test } from 'vitest';
import { roundWords } from './tournament-words.ts';

const TIMES = { entries_close_at: '2026-11-26T12:50:00.000Z', closes_at: '2026-11-26T13:00:00.000Z' };

test.each([
  ['open', '2026-11-26T12:49:59.999Z', 'Players enter it'],
  ['open', '2026-11-26T12:50:00.000Z', 'Entries have closed'],
  ['open', '2026-11-26T13:00:00.000Z', 'It has closed, and is settled next'],
  ['settling', '2026-11-26T13:00:00.000Z', 'Laurel ranks the runs'],
  ['settled', '2026-11-26T13:00:00.000Z', 'The standings are final'],
  ['cancelled', '2026-11-26T13:00:00.000Z', 'every fee is returned'],
] as const)('a round that is %s at %s reads as "%s"', (status, now, words) => {
  expect(roundWords({ status, ...TIMES }, Date.parse(now))).toContain(words);
});
