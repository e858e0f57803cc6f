import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './log-cursor.ts';

const ID = '11111111-1111-7111-8111-111111111111';

function wrapped(text: string): string {
  return Buffer.from(text).toString('base64url');
}

describe('the cursor of the log of an integration', () => {
  it('a cursor of the log of an integration decodes to the key that was encoded', () => {
    const dates = fc.date({ min: new Date('2000-01-01'), max: new Date('2999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, fc.uuid(), (at, id) => {
        expect(decodeCursor(encodeCursor({ at, id }))).toEqual({ at, id });
      }),
    );
  });

  it('any other text decodes to no cursor of the log of an integration', () => {
    fc.assert(fc.property(fc.string(), (text) => decodeCursor(text) === null));
    fc.assert(fc.property(fc.string(), (text) => decodeCursor(wrapped(text)) === null));
    for (const text of [
      ID,
      `2026-11-21T12:00:00.000Z`,
      `2026-11-21T12:00:00.000Z ${ID} more`,
      `2026-11-21T12:00:00.000Z ${ID.slice(1)}`,
      `2026-13-21T12:00:00.000Z ${ID}`,
      `2026-02-30T99:00:00.000Z ${ID}`,
      `2026-02-31T00:00:00.000Z ${ID}`,
      `300000-01-01T00:00:00.000Z ${ID}`,
      `+275000-11-21T12:00:00.000Z ${ID}`,
      `infinity ${ID}`,
    ])
      expect(decodeCursor(wrapped(text))).toBeNull();
  });
});
