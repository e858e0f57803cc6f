import type { Position } from '@laurel/values/cursor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListOrder, mergePages, type PageOfContest } from './attempt-pages.ts';

type Row = Position;

const HIGHEST = 'ffffffff';

/** A contest service whose attempts become visible late, but never at or below its head. */
class Contest {
  readonly visible: Row[] = [];
  head: Position = { at: new Date(0), id: HIGHEST };

  add(milliseconds: number, id: string): void {
    const at = new Date(this.head.at.getTime() + 1 + milliseconds);
    if (!this.visible.some((row) => row.id === id)) this.visible.push({ at, id });
  }

  page(order: ListOrder, from: Position | null, limit: number, window: number): PageOfContest<Row> {
    const before = from ?? this.head;
    const isLeft = (row: Row) =>
      order === 'oldest_first' ? compare(row, before) > 0 && compare(row, this.head) <= 0 : compare(row, before) < 0;
    const left = this.visible.filter(isLeft).sort((a, b) => (order === 'oldest_first' ? 1 : -1) * compare(a, b));
    const rows = left.slice(0, Math.min(limit, window));
    const end = order === 'oldest_first' ? (compare(this.head, before) > 0 ? this.head : before) : null;
    return {
      rows,
      readTo: left.length > rows.length ? (rows.at(-1) ?? null) : end,
      head: from === null ? this.head : null,
    };
  }
}

function compare(a: Position, b: Position): number {
  const byTime = a.at.getTime() - b.at.getTime();
  return byTime !== 0 ? byTime : a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

const ids = fc.stringMatching(/^[0-9a-e]{6}$/);
const arrivals = fc.array(fc.tuple(fc.nat(1), fc.nat(4), ids), { maxLength: 20 });
const advances = fc.tuple(fc.nat(6), fc.nat(6));
const size = fc.integer({ min: 1, max: 4 });

function arrive(
  contests: readonly Contest[],
  made: readonly (readonly [number, number, string])[],
  taken: Set<string>,
) {
  for (const [index, milliseconds, id] of made) {
    if (taken.has(id)) continue;
    taken.add(id);
    contests[index]?.add(milliseconds, id);
  }
}

function advance(contests: readonly Contest[], by: readonly number[]): void {
  for (const [index, contest] of contests.entries())
    contest.head = { at: new Date(contest.head.at.getTime() + (by[index] ?? 0)), id: HIGHEST };
}

describe('a list of the attempts of two contest services', () => {
  it('the pages of a list, and the list that follows new attempts, together have each attempt exactly once, in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(arrivals, advances), { minLength: 1, maxLength: 5 }),
        size,
        size,
        ([first, ...later], limit, window) => {
          const contests = [new Contest(), new Contest()];
          const taken = new Set<string>();
          const read = (order: ListOrder, from: Position | null) =>
            mergePages(
              order,
              contests.map((contest) => contest.page(order, from, limit, window)),
              limit,
            );
          arrive(contests, first?.[0] ?? [], taken);
          advance(contests, first?.[1] ?? []);

          const newest = read('newest_first', null);
          const paged = [...newest.rows];
          for (let next = newest.next; next !== null; ) {
            // Attempts that arrive while the pages are read are above the head.
            arrive(contests, later[0]?.[0].slice(0, 1) ?? [], taken);
            const page = read('newest_first', next);
            expect(page.rows.length).toBeLessThanOrEqual(limit);
            paged.push(...page.rows);
            next = page.next;
          }
          expect(paged).toEqual([...paged].sort((a, b) => compare(b, a)));

          const followed: Row[] = [];
          let position = newest.head;
          for (const [made, by] of [...later, [[], [9, 9]] as const]) {
            arrive(contests, made, taken);
            advance(contests, by);
            for (;;) {
              const page: ReturnType<typeof read> = read('oldest_first', position);
              followed.push(...page.rows);
              const isSame = page.next?.id === position?.id && page.next?.at.getTime() === position?.at.getTime();
              position = page.next;
              if (isSame) break;
            }
          }
          expect(followed).toEqual([...followed].sort(compare));

          const end = contests.map(({ head }) => head).sort(compare)[0];
          const expected = contests
            .flatMap(({ visible }) => visible)
            .filter((row) => end !== undefined && compare(row, end) <= 0)
            .sort(compare);
          expect([...paged.reverse(), ...followed]).toEqual(expected);
        },
      ),
    );
  });
});
