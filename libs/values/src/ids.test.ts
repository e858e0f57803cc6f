import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  awardIdOf,
  awardTransferId,
  type ContestServiceName,
  contestServiceOf,
  deriveId,
  deriveOwnedId,
  feeTransferId,
  hashId,
  instantOfId,
  isUuid,
  leastIdAt,
  newId,
  newOwnedId,
  receiptIdOf,
  refundTransferId,
} from './ids.ts';

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const owner = fc.constantFrom<ContestServiceName>('challenge', 'tournament');
const instant = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const timePrefix = (id: string) => id.slice(0, 13);

describe('new ids', () => {
  test('a new id begins with its time in milliseconds', () => {
    expect(timePrefix(newId(new Date('2026-10-01T00:00:00.000Z')))).toBe(hexOf('2026-10-01T00:00:00.000Z'));
    expect(timePrefix(newOwnedId('challenge', new Date(0)))).toBe('00000000-0000');
  });

  test('ids are lower-case uuids of version 7, or of version 8 if they name a contest service', () => {
    fc.assert(
      fc.property(instant, owner, (now, who) => {
        const id = newId(now);
        const owned = newOwnedId(who, now);
        expect(id).toMatch(CANONICAL);
        expect(owned).toMatch(CANONICAL);
        expect([id[14], owned[14]]).toEqual(['7', '8']);
      }),
    );
  });

  test('an id made later sorts later', () => {
    fc.assert(
      fc.property(instant, instant, owner, (a, b, who) => {
        fc.pre(a.getTime() !== b.getTime());
        const earlier = a < b;
        expect(newId(a) < newId(b)).toBe(earlier);
        expect(newOwnedId(who, a) < newOwnedId(who, b)).toBe(earlier);
      }),
    );
  });

  test('ids made in the same millisecond are distinct', () => {
    const now = new Date();
    expect(new Set(Array.from({ length: 20_000 }, () => newId(now))).size).toBe(20_000);
    expect(new Set(Array.from({ length: 20_000 }, () => newOwnedId('challenge', now))).size).toBe(20_000);
  });
});

describe('owners', () => {
  test('an owned id names its contest service, in upper and lower case', () => {
    fc.assert(
      fc.property(owner, owner, fc.string(), (who, other, purpose) => {
        const id = newOwnedId(who);
        expect(contestServiceOf(id)).toBe(who);
        expect(contestServiceOf(id.toUpperCase())).toBe(who);
        expect(contestServiceOf(deriveOwnedId(id, purpose, other))).toBe(other);
      }),
    );
  });

  test('an id that no contest service owns names no contest service', () => {
    fc.assert(
      fc.property(fc.uuid({ version: [1, 2, 3, 4, 5, 6, 7] }), fc.string(), (id, text) => {
        expect(contestServiceOf(id)).toBeNull();
        expect(contestServiceOf(deriveId(id, text))).toBeNull();
        expect(contestServiceOf(hashId(id, text))).toBeNull();
        expect(contestServiceOf(newId())).toBeNull();
        expect(contestServiceOf(text)).toBeNull();
      }),
    );
  });
});

describe('derived ids', () => {
  test('the same source and purpose always give the same id', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string(), (id, purpose) => {
        expect(deriveId(id, purpose)).toBe(deriveId(id.toUpperCase(), purpose));
      }),
    );
  });

  test('another source or another purpose gives another derived id', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.string(), fc.string(), (id, otherId, purpose, otherPurpose) => {
        fc.pre(id !== otherId && purpose !== otherPurpose);
        const ids = [id, deriveId(id, purpose), deriveId(id, otherPurpose), deriveId(otherId, purpose)];
        expect(new Set(ids).size).toBe(4);
      }),
    );
  });

  test('a derived id is a UUIDv8 that keeps the time prefix of its source', () => {
    fc.assert(
      fc.property(instant, owner, fc.string(), (now, who, purpose) => {
        const source = newOwnedId(who, now);
        const derived = deriveId(source, purpose);
        expect(derived).toMatch(CANONICAL);
        expect(derived[14]).toBe('8');
        expect(timePrefix(derived)).toBe(timePrefix(source));
      }),
    );
  });

  test('text that is not a uuid has no derived id', () => {
    expect(() => deriveId('attempt-1', 'fee')).toThrow(TypeError);
  });

  test('the derived ids of an operation and of an attempt never change', () => {
    const operationId = '019a9f00-0000-8100-8000-000000000001';
    // The id of an attempt is that of the operation that creates it.
    const awardId = awardIdOf(operationId, 'challenge');
    const feeId = feeTransferId(operationId);
    // Ledgers store these values: a change here would let money move twice.
    expect({
      feeId,
      refundId: refundTransferId(feeId),
      receiptId: receiptIdOf(operationId),
      awardId,
      awardTransferId: awardTransferId(awardId),
    }).toMatchInlineSnapshot(`
      {
        "awardId": "019a9f00-0000-8188-b824-de7f8d0f4a0a",
        "awardTransferId": "019a9f00-0000-8092-8e7b-bc00ae192af7",
        "feeId": "019a9f00-0000-80b2-8fb4-e4881bb4df6f",
        "receiptId": "019a9f00-0000-80a5-bf69-675f9223d389",
        "refundId": "019a9f00-0000-80ff-b6ff-a41ca9d45e2a",
      }
    `);
    expect(contestServiceOf(awardId)).toBe('challenge');
    expect([feeTransferId(operationId, 0), feeTransferId(operationId, 1)]).toEqual([
      feeId,
      deriveId(operationId, 'fee:1'),
    ]);
  });
});

describe('hashed ids', () => {
  test('the same parts give the same hashed id, a UUIDv8', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (parts) => {
        expect(hashId(...parts)).toBe(hashId(...parts));
        expect(hashId(...parts)).toMatch(CANONICAL);
      }),
    );
  });

  test('different lists of parts give different hashed ids', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(hashId(...a)).not.toBe(hashId(...b));
      }),
    );
    expect(new Set([hashId('ab', 'c'), hashId('a', 'bc'), hashId('abc'), hashId('abc', ''), hashId()]).size).toBe(5);
  });
});

describe('what is a uuid', () => {
  test('text of any uuid version, in upper or lower case, is a uuid', () => {
    fc.assert(fc.property(fc.uuid(), (id) => isUuid(id) && isUuid(id.toUpperCase())));
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true);
  });

  test('text that only resembles a uuid is not a uuid', () => {
    const id = newId();
    for (const text of [
      '',
      `{${id}}`,
      id.replaceAll('-', ''),
      ` ${id}`,
      `${id}\n`,
      `urn:uuid:${id}`,
      id.replace(/^./, 'g'),
    ]) {
      expect(isUuid(text)).toBe(false);
    }
  });
});

test('an id contains the instant at which it was made', () => {
  const at = new Date('2026-11-26T14:00:00.123Z');
  for (const id of [newId(at), newOwnedId('challenge', at)]) {
    expect(instantOfId(id)).toEqual(at);
    expect(leastIdAt(at) <= id).toBe(true);
    expect(leastIdAt(new Date(at.getTime() + 1)) > id).toBe(true);
  }
  expect(leastIdAt(new Date(2 ** 49))).toBe('ffffffff-ffff-0000-0000-000000000000');
});

function hexOf(iso: string): string {
  const hex = Date.parse(iso).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
