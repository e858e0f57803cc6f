import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  beginTail,
  MAX_WAITING_ROWS,
  rowsInDoubt,
  showWaiting,
  type TailPage,
  takeChanged,
  takeNewer,
  takeOlder,
  takePresent,
} from './tail.ts';

const keyOf = (row: number) => String(row);

test('newer rows wait until the user shows them, and older rows follow below', () => {
  const begun = beginTail(page([5, 4], '3'));
  const polled = takeNewer(begun, page([6, 7], null, '7'), keyOf);
  expect(polled.rows).toEqual([5, 4]);
  expect(polled.waiting).toEqual([7, 6]);
  expect(showWaiting(polled).rows).toEqual([7, 6, 5, 4]);
  expect(takeOlder(polled, page([3, 2], null), keyOf)).toMatchObject({ rows: [5, 4, 3, 2], nextCursor: null });
});

test('an empty list shows new rows at once', () => {
  expect(takeNewer(beginTail(page([], null)), page([1, 2], null, '2'), keyOf)).toMatchObject({
    rows: [2, 1],
    waiting: [],
    headCursor: '2',
  });
});

test('a page in the background stops collecting rows at its limit', () => {
  const rows = Array.from({ length: MAX_WAITING_ROWS + 1 }, (_, index) => index + 1);
  expect(takeNewer(beginTail(page([0], null)), page(rows, null), keyOf).isOverfull).toBe(true);
});

test('rows that are shown no longer count as waiting, however many rows have arrived', () => {
  const rows = Array.from({ length: MAX_WAITING_ROWS + 1 }, (_, index) => index + 1);
  const shown = showWaiting(takeNewer(beginTail(page([0], null)), page(rows, null), keyOf));
  expect([shown.isOverfull, shown.rows.length]).toEqual([false, rows.length + 1]);
  expect(takeNewer(beginTail(page([], null)), page(rows, null), keyOf).isOverfull).toBe(false);
});

test('a poll without rows keeps the rows', () => {
  const begun = beginTail(page([2, 1], null, '2'));
  expect(takeNewer(begun, page([], null, '2'), keyOf)).toBe(begun);
  expect(takeNewer(begun, page([2], null, '2'), keyOf)).toBe(begun);
  const moved = takeNewer(begun, page([], null, '9'), keyOf);
  expect(moved.headCursor).toBe('9');
  expect(moved.rows).toBe(begun.rows);
});

test('after an empty page of older rows, the next read begins at the next cursor', () => {
  const begun = beginTail(page([], '5'));
  const searched = takeOlder(begun, { data: [], next_cursor: '4', head_cursor: null }, keyOf);
  expect(searched).toEqual({ ...begun, nextCursor: '4' });
  expect(takeOlder(searched, page([3], null), keyOf).rows).toEqual([3]);
});

test('a changed row keeps its place in the list', () => {
  const [a, b, c] = [line('a', 'open'), line('b', 'open'), line('c', 'settled')];
  const tail = { ...beginTail({ data: [b, a], next_cursor: null, head_cursor: 'b' }), waiting: [c] };
  const lineKey = (row: { id: string }) => row.id;
  expect(takeChanged(tail, [line('c', 'settled'), line('b', 'open')], lineKey)).toBe(tail);
  const changed = takeChanged(tail, [line('d', 'open'), line('b', 'open'), line('a', 'settled')], lineKey);
  expect(changed.rows).toEqual([b, line('a', 'settled')]);
  expect(changed.rows[0]).toBe(b);
  expect(changed.waiting).toBe(tail.waiting);
});

test('older rows that start to match the filters are counted until the list is reloaded', () => {
  const begun = beginTail(page([9, 7, 5], '5'));
  const late = takePresent(begun, page([9, 8, 7, 6, 5, 4, 3], '3'), keyOf);
  // Rows below the last known one may have matched all the time.
  expect([late.rows, late.late]).toEqual([[9, 7, 5], 2]);
  expect(takePresent(late, page([9, 8, 7, 6, 5, 4, 3], '3'), keyOf)).toBe(late);
  expect(takePresent(late, page([9, 7, 5], '5'), keyOf).late).toBe(0);
  expect(takePresent(beginTail(page([9], null)), page([9, 8], null), keyOf).late).toBe(1);
  expect(takePresent(beginTail(page([], null)), page([9, 8], null), keyOf)).toMatchObject({ rows: [9, 8], late: 0 });
});

test('a row that left the newest page is read again before older rows', () => {
  const doubt = { keyOf, isFinal: (row: number) => row % 2 === 0, turn: 0, limit: 3 };
  expect(rowsInDoubt([9, 8, 7, 6, 5, 4, 3, 2, 1], [9, 5], doubt)).toEqual([7, 3, 1]);
  expect(rowsInDoubt([9, 8, 7], [9, 8, 7], doubt)).toEqual([]);
});

test('each row that can still change is read again within a few turns', () => {
  const cases = fc.record({
    rows: fc.uniqueArray(fc.nat(60), { maxLength: 40 }),
    shared: fc.nat(10),
    limit: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(cases, ({ rows, shared, limit }) => {
      const present = rows.slice(0, shared);
      const isFinal = (row: number) => row % 3 === 0;
      const read = new Set<number>();
      for (let turn = 0; turn * limit < rows.length; turn += 1) {
        const inDoubt = rowsInDoubt(rows, present, { keyOf, isFinal, turn, limit });
        expect(inDoubt.length).toBeLessThanOrEqual(limit);
        for (const row of inDoubt) read.add(row);
      }
      expect([...read].sort()).toEqual(rows.filter((row) => !isFinal(row) && !present.includes(row)).sort());
    }),
  );
});

test('every row is shown once and newest first, in whatever order polls return rows', () => {
  const polls = fc.array(fc.record({ count: fc.nat(5), repeated: fc.nat(2), isShown: fc.boolean() }), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(polls, (steps) => {
      let newest = 2;
      let tail = beginTail(page([2, 1], null));
      for (const { count, repeated, isShown } of steps) {
        const from = Math.max(1, newest - repeated + 1);
        newest += count;
        const rows = Array.from({ length: newest - from + 1 }, (_, index) => from + index);
        tail = takeNewer(tail, page(rows, null, String(newest)), keyOf);
        if (isShown) tail = showWaiting(tail);
      }
      expect(showWaiting(tail).rows).toEqual(Array.from({ length: newest }, (_, index) => newest - index));
      expect(tail.headCursor).toBe(steps.length === 0 ? 'head' : String(newest));
    }),
  );
});

function line(id: string, status: string) {
  return { id, status };
}

function page(data: readonly number[], nextCursor: string | null, headCursor = 'head'): TailPage<number> {
  return { data, next_cursor: nextCursor, head_cursor: headCursor };
}
