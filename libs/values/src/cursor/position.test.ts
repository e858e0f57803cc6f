import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCursor } from './key-cursor.ts';
import { decodeInstant, decodePosition, encodePosition } from './position.ts';

const ID = '11111111-1111-7111-8111-111111111111';

const dates = fc.date({ min: new Date('2000-01-01'), max: new Date('2999-12-31'), noInvalidDate: true });

function wrapped(text: string): string {
  return Buffer.from(text).toString('base64url');
}

describe('the cursor of a list by instant and id', () => {
  it('a cursor of a list by instant and id decodes to the position that was encoded', () => {
    fc.assert(
      fc.property(dates, fc.uuid(), (at, id) => {
        expect(decodePosition(encodePosition({ at, id }))).toEqual({ at, id });
      }),
    );
  });

  it('a text that is not such a cursor decodes to no position', () => {
    fc.assert(fc.property(fc.string(), (text) => decodePosition(text) === null));
    fc.assert(fc.property(fc.string(), (text) => decodePosition(wrapped(text)) === null));
    expect(decodePosition('nonsense')).toBeNull();
    expect(decodePosition(wrapped('{}'))).toBeNull();
    for (const key of [
      [ID],
      ['2026-11-21T12:00:00.000Z'],
      ['2026-11-21T12:00:00.000Z', 'x'],
      ['2026-11-21T12:00:00.000Z', ID, 'more'],
      ['2026-11-21T12:00:00.000Z', `${ID} more`],
      ['2026-11-21T12:00:00.000Z', ID.slice(1)],
      ['2026-11-22', ID],
      ['2026-13-21T12:00:00.000Z', ID],
      ['2026-02-30T00:00:00.000Z', ID],
      ['2026-02-30T99:00:00.000Z', ID],
      ['2026-02-31T00:00:00.000Z', ID],
      ['300000-01-01T00:00:00.000Z', ID],
      ['+275000-11-21T12:00:00.000Z', ID],
      ['infinity', ID],
    ])
      expect(decodePosition(encodeCursor(key))).toBeNull();
  });
});

describe('an instant in a cursor', () => {
  it('an instant in a cursor decodes to the instant that was encoded', () => {
    fc.assert(
      fc.property(dates, (date) => {
        expect(decodeInstant(date.toISOString())).toEqual(date);
      }),
    );
  });

  it.each([
    '',
    '0',
    'infinity',
    '2026-02-31T00:00:00.000Z',
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T12:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T00:00:60.000Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01',
    '1999-12-31T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '+275000-11-21T12:00:00.000Z',
    '300000-01-01T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
  ])('the text %j is not accepted as an instant of a cursor', (text) => {
    expect(decodeInstant(text)).toBeNull();
  });
});
