import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  FIRST_INSTANT,
  firstOf,
  isBefore,
  isInBounds,
  LAST_INSTANT,
  lastOf,
  later,
  millisecondsBetween,
  millisecondsOf,
} from './instant.ts';

const INVALID = new Date(Number.NaN);
const valid = fc.date({ noInvalidDate: true });
const any = fc.oneof(fc.date({ noInvalidDate: false }), fc.constant(INVALID));

test.each([
  ['the first instant of 1900', '1900-01-01T00:00:00.000Z', true],
  ['the first instant of 1900, as a clock in New York shows it', '1899-12-31T19:00:00-05:00', true],
  ['a millisecond before 1900', '1899-12-31T23:59:59.999Z', false],
  ['the first instant of 9999', '9999-01-01T00:00:00.000Z', true],
  ['a millisecond later', '9999-01-01T00:00:00.001Z', false],
  ['the last second of 9999, five hours west of Greenwich', '9999-12-31T23:59:59-05:00', false],
  ['the first second of our era', '0001-01-01T00:00:00Z', false],
  ['a text that is not an instant', 'soon', false],
])('the bounds of an instant: %s', (_what, text, isTaken) => {
  expect(isInBounds(new Date(text))).toBe(isTaken);
});

describe('the laws of instants', () => {
  it('every instant within the bounds has a year of four digits in every time zone', () => {
    const within = fc.date({ min: FIRST_INSTANT, max: LAST_INSTANT, noInvalidDate: true });
    const offsetMs = fc.integer({ min: -14 * 60, max: 14 * 60 }).map((minutes) => minutes * 60_000);
    fc.assert(
      fc.property(within, offsetMs, (instant, offset) => {
        expect(isInBounds(instant)).toBe(true);
        expect(later(instant, offset).toISOString()).toMatch(/^\d{4}-/);
      }),
    );
  });

  it('every comparison with an invalid Date throws', () => {
    const calls = [isBefore, millisecondsBetween, firstOf, lastOf];
    fc.assert(
      fc.property(any, fc.boolean(), (other, isFirst) => {
        expect(() => millisecondsOf(INVALID)).toThrow(RangeError);
        expect(() => later(INVALID, 1)).toThrow(RangeError);
        const pair: [Date, Date] = isFirst ? [INVALID, other] : [other, INVALID];
        for (const call of calls) expect(() => call(...pair)).toThrow(RangeError);
      }),
    );
  });

  it('exactly one of two different instants is before the other', () => {
    fc.assert(
      fc.property(valid, valid, (one, other) => {
        const isSame = one.getTime() === other.getTime();
        expect(Number(isBefore(one, other)) + Number(isBefore(other, one))).toBe(isSame ? 0 : 1);
        expect(Math.sign(millisecondsBetween(one, other))).toBe(isSame ? 0 : isBefore(one, other) ? 1 : -1);
        expect([firstOf(one, other), lastOf(one, other)]).toEqual(
          [one, other].toSorted((a, b) => a.getTime() - b.getTime()),
        );
      }),
    );
  });

  it('a sum that leaves the range of Date throws', () => {
    expect(() => later(LAST_INSTANT, 1e16)).toThrow(RangeError);
    expect(() => later(LAST_INSTANT, Number.NaN)).toThrow(RangeError);
    expect(later(FIRST_INSTANT, 1)).toEqual(new Date('1900-01-01T00:00:00.001Z'));
  });
});
