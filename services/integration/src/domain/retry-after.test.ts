import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAtOf } from './retry-after.ts';

const NOW = new Date('2026-11-25T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const waitMs = (header: string | readonly string[] | undefined) => {
  const at = retryAtOf(header, NOW);
  return at === null ? null : at.getTime() - NOW.getTime();
};

describe('the wait that a partner asks for', () => {
  test.each<readonly [header: string | readonly string[] | undefined, ms: number]>([
    ['1', 1_000],
    ['120', 120_000],
    ['0007', 7_000],
    [' 120 ', 120_000],
    ['3600', HOUR_MS],
    ['3601', HOUR_MS],
    ['9'.repeat(400), HOUR_MS],
    ['Wed, 25 Nov 2026 12:02:00 GMT', 120_000],
    ['Wednesday, 25-Nov-26 12:02:00 GMT', 120_000],
    ['Wed Nov 25 12:02:00 2026', 120_000],
    ['Thu, 25 Nov 2027 12:00:00 GMT', HOUR_MS],
    [['60', '120'], 120_000],
  ])('%j', (header, ms) => {
    expect(waitMs(header)).toBe(ms);
  });

  test.each([
    undefined,
    '',
    '0',
    '-5',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    'Infinity',
    'soon',
    '60, 120',
    'Wed, 25 Nov 2026 11:59:00 GMT',
    'Wed, 25 Nov 2026 12:00:00 GMT',
    'Wed, 99 Nov 2026 12:02:00 GMT',
    '2026-11-25T12:02:00Z',
  ])('the Retry-After %j asks for no wait', (header) => {
    expect(waitMs(header)).toBeNull();
  });

  test('any Retry-After gives no wait, or a wait of at most an hour', () => {
    const date = fc.date({ noInvalidDate: true }).map((at) => at.toUTCString());
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.nat().map(String), date), (header) => {
        const wait = waitMs(header);
        expect(wait === null || (wait > 0 && wait <= HOUR_MS)).toBe(true);
      }),
    );
  });
});
