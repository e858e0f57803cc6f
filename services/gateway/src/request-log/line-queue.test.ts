import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoggedRequest } from '../repository/requests.ts';
import { createLineQueue, MAX_BATCH, WAIT_MS } from './line-queue.ts';

const lineOf = (programId: string, requestBody: string | null = null): LoggedRequest => ({
  requestId: newId(),
  programId,
  environment: 'test',
  at: new Date(),
  method: 'POST',
  path: '/v1/players',
  route: '/v1/players',
  status: 201,
  errorCode: null,
  durationMs: 1,
  idempotencyKey: null,
  isReplayed: false,
  userAgent: null,
  requestBody,
  isRequestBodyTruncated: false,
  responseBody: null,
  isResponseBodyTruncated: false,
});

it('the lines of a program are written together once the first has waited', () => {
  const queue = createLineQueue();
  const [first, second] = [lineOf('first'), lineOf('first')];
  const other = lineOf('other');
  queue.add(first, 0);
  queue.add(other, 10);
  queue.add(second, WAIT_MS - 1);
  expect(queue.takeDue(WAIT_MS - 1)).toEqual([]);
  expect(queue.takeDue(WAIT_MS)).toEqual([first, second]);
  expect(queue.takeDue(WAIT_MS + 9)).toEqual([]);
  expect(queue.takeDue(WAIT_MS + 10)).toEqual([other]);
  expect(queue.length).toBe(0);
});

it('a program with a whole batch does not wait', () => {
  const queue = createLineQueue();
  for (let n = 0; n < MAX_BATCH - 1; n += 1) queue.add(lineOf('busy'), 0);
  expect(queue.isPressed).toBe(false);
  queue.add(lineOf('busy'), 0);
  expect(queue.isPressed).toBe(true);
  queue.add(lineOf('busy'), 0);
  expect(queue.takeDue(0)).toHaveLength(MAX_BATCH);
  expect(queue.isPressed).toBe(false);
  expect(queue.takeDue(0)).toEqual([]);
});

it.each([
  ['lines', 5_000, null],
  ['bytes', 1_024, ' '.repeat(16 * 1024 - '/v1/players'.length)],
] as const)('a queue that is half full of %s lets no line wait, and a full one takes none', (_, room, body) => {
  const queue = createLineQueue();
  const add = () => !queue.isFull && queue.add(lineOf(newId(), body), 0);
  for (let n = 0; n < room / 2; n += 1) expect(add()).toBe(true);
  expect(queue.isPressed).toBe(false);
  for (let n = room / 2; n < room; n += 1) expect(add()).toBe(true);
  expect(add()).toBe(false);
  expect(queue.isPressed).toBe(true);
  let taken = 0;
  for (let due = queue.takeDue(0); due.length > 0; due = queue.takeDue(0)) taken += due.length;
  expect(taken).toBe(room / 2);
  expect(queue.length).toBe(room / 2);
  expect(queue.isPressed).toBe(false);
});

it('each line is taken exactly once, and the lines of each program in order', () => {
  const steps = fc.array(
    fc.record({
      program: fc.constantFrom('a', 'b', 'c'),
      lines: fc.nat({ max: 2 * MAX_BATCH }),
      thenMs: fc.nat({ max: 2 * WAIT_MS }),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(steps, (drawn) => {
      const queue = createLineQueue();
      const added: LoggedRequest[] = [];
      const taken: LoggedRequest[] = [];
      const addedAt = new Map<LoggedRequest, number>();
      const takeAllDue = (now: number) => {
        for (let due = queue.takeDue(now); due.length > 0; due = queue.takeDue(now)) {
          expect(due.length).toBeLessThanOrEqual(MAX_BATCH);
          taken.push(...due);
        }
      };
      let now = 0;
      for (const { program, lines, thenMs } of drawn) {
        for (let n = 0; n < lines && !queue.isFull; n += 1) {
          const line = lineOf(program);
          queue.add(line, now);
          added.push(line);
          addedAt.set(line, now);
        }
        now += thenMs;
        takeAllDue(now);
        const waiting = added.filter((line) => !taken.includes(line));
        for (const line of waiting) expect(now - (addedAt.get(line) ?? 0)).toBeLessThan(WAIT_MS);
      }
      takeAllDue(Number.POSITIVE_INFINITY);
      expect(queue.length).toBe(0);
      for (const program of ['a', 'b', 'c']) {
        const own = (lines: readonly LoggedRequest[]) => lines.filter(({ programId }) => programId === program);
        expect(own(taken)).toEqual(own(added));
      }
    }),
    { numRuns: 30 },
  );
});
