import { newOwnedId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { describe, expect, it } from 'vitest';
import { knownArchived, mayBeArchived } from './archived-attempt.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const DAY_MS = 86_400_000;

describe('a creation by the id of an archived attempt', () => {
  it('only ids that are more than a day old are looked up', () => {
    const idOf = (ageMs: number) => newOwnedId('challenge', later(NOW, -ageMs));
    expect([DAY_MS + 1, DAY_MS, 0, -1].map((ageMs) => mayBeArchived(idOf(ageMs), NOW))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('an abandoned attempt is a refused one, and every other stays as it is', () => {
    const abandoned = { id: newOwnedId('challenge'), closedReason: 'abandoned' };
    expect(knownArchived(abandoned, 'entries_closed')).toEqual({ ...abandoned, closedReason: 'entries_closed' });
    for (const closedReason of [null, 'insufficient_funds']) {
      const other = { ...abandoned, closedReason };
      expect(knownArchived(other, 'entries_closed')).toEqual(other);
    }
  });
});
