import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginTail, MAX_WAITING, showWaiting, type TailPage, takeNewer, takeOlder } from './tail.ts';

const keyOf = (row: number) => String(row);

test('newer rows wait until they are shown, and older ones follow below', () => {
  const begun = beginTail(page([5, 4], '3'));
  const polled = takeNewer(begun, page([6, 7], null, '7'), keyOf);
  expect(polled.rows).toEqual([5, 4]);
  expect(polled.waiting).toEqual([7, 6]);
  expect(showWaiting(polled).rows).toEqual([7, 6, 5, 4]);
  expect(takeOlder(polled, page([3, 2], null), keyOf)).toMatchObject({ rows: [5, 4, 3, 2], nextCursor: null });
});

test('an empty list shows at once what arrives', () => {
  expect(takeNewer(beginTail(page([], null)), page([1, 2], null, '2'), keyOf)).toMatchObject({
    rows: [2, 1],
    waiting: [],
    headCursor: '2',
  });
});

test('a page that nobody looks at stops to collect rows', () => {
  const rows = Array.from({ length: MAX_WAITING + 1 }, (_, index) => index + 1);
  expect(takeNewer(beginTail(page([0], null)), page(rows, null), keyOf).isOverfull).toBe(true);
});

test('however the rows arrive, each is shown once, newest first', () => {
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

function page(data: readonly number[], nextCursor: string | null, headCursor = 'head'): TailPage<number> {
  return { data, next_cursor: nextCursor, head_cursor: headCursor };
}
