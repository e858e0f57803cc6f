import { randomBytes, randomUUID } from 'node:crypto';
import type { JournalEntry } from '@laurel/testing';
import { describe, expect, test } from 'vitest';
import { differences, recordExamples } from './record-examples.ts';

const DOCUMENT = {
  paths: {
    '/api/things': { post: { operationId: 'createThing' }, get: { operationId: 'listThings' } },
    '/api/things/{thingId}': { get: { operationId: 'getThing' } },
  },
};

/** The requests and responses of one run of a stack, with new ids, instants, keys and secrets. */
function runAt(begin: number): JournalEntry[] {
  const id = randomUUID();
  const at = (seconds: number) => new Date(begin + seconds * 1_000).toISOString();
  const thing = { id, made_at: at(1), seen_at: at(0), prefix: `sk_test_${randomBytes(2).toString('hex')}` };
  const secret = { ...thing, signing_secret: `whsec_${randomBytes(32).toString('hex')}` };
  const list = { data: [thing, thing, thing], next_cursor: randomBytes(9).toString('base64url') };
  const entry = (method: string, path: string, status: number, body: object, sent?: object) =>
    ({ method, path, sent: JSON.stringify(sent), answer: { status, text: JSON.stringify(body) } }) as JournalEntry;
  return [
    entry('POST', '/api/things', 400, { error: {} }, { name: 'refused, although it sends the most' }),
    entry('POST', '/api/things', 201, thing, {}),
    entry('POST', '/api/things', 201, secret, { name: 'a thing', owner: id }),
    entry('GET', '/api/things?limit=3', 200, list),
    entry('GET', `/api/things/${id}`, 200, thing),
  ];
}

describe('recorded examples', () => {
  const recorded = recordExamples(runAt(0), DOCUMENT);

  test('every run of a stack records the same examples', () => {
    expect(recordExamples(runAt(9_999_999), DOCUMENT)).toEqual(recorded);
  });

  test('the example of an operation is the success with the largest request', () => {
    const id = '01a1fd00-0000-7000-8000-000000000001';
    expect(recorded.createThing?.request).toEqual({ name: 'a thing', owner: id });
    expect(recorded.getThing).toMatchObject({ params: { thingId: id }, response: { id } });
  });

  test('recorded examples contain no secrets', () => {
    expect(recorded.createThing?.response).toMatchObject({
      seen_at: '2026-11-21T12:00:00.000Z',
      made_at: '2026-11-21T12:01:00.000Z',
      prefix: 'sk_test_exam',
      signing_secret: `whsec_${'0'.repeat(64)}`,
    });
    expect(recorded.listThings?.response).toHaveProperty('data.length', 2);
  });

  test('another member or another type counts as a difference', () => {
    const one = { a: { id: '1', list: [{ b: 1 }], none: null } };
    expect(differences(one, { a: { id: '2', list: [], none: { c: 1 } } })).toEqual([]);
    expect(differences(one, { a: { id: 2, list: [{ b: 1, d: 1 }] } })).toEqual([
      'examples.a.id is another type',
      'examples.a.list[0].d is in one',
      'examples.a.none is in one',
    ]);
  });
});
