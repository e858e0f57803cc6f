/** Laws that hold for every descriptor and every body. */
import { isRefused } from '@laurel/errors';
import { parseJson, textAt } from '@laurel/json';
import { checkUrl } from '@laurel/untrusted-url';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type Descriptor, parseDescriptor } from './descriptor.ts';
import { parseBody } from './json-body.ts';
import { parsePointer, valueAt } from './json-pointer.ts';
import { firstRequest, nextPage } from './paging.ts';
import { readBody } from './read-body.ts';
import { operationIdOf, reportHashOf } from './report-identity.ts';

const name = fc.oneof(fc.constantFrom('', '/', '~', '~1', '0', '__proto__', 'length'), fc.string({ unit: 'grapheme' }));
const spelled = (path: readonly string[]) =>
  path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function descriptorOf(json: object): Descriptor {
  const descriptor = parseDescriptor(json, 'pull_poll');
  if (isRefused(descriptor)) throw new Error(descriptor.message);
  return descriptor;
}

/** Every value of a document with its path, found by walking the document. */
function walk(value: unknown, path: readonly string[] = []): (readonly [readonly string[], unknown])[] {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[path, value], ...children.flatMap(([token, child]) => walk(child, [...path, token]))];
}

test('a pointer names exactly the value at its path', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (document, indent) => {
      const text = JSON.stringify(document, null, indent);
      const value = parseJson(text);
      for (const [path, expected] of walk(value)) {
        const pointer = parsePointer(spelled(path));
        if (path.includes('-')) expect(pointer).toBeNull();
        else if (pointer === null) throw new Error(`${spelled(path)} is not a pointer`);
        else {
          expect(valueAt(value, pointer)).toBe(expected);
          expect(parseJson(textAt(text, pointer.path) ?? '')).toEqual(expected);
        }
      }
    }),
  );
});

test('a payload that matches its descriptor reads back exactly', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  const parts = fc.uniqueArray(
    name.filter((text) => text !== '-'),
    { minLength: 4, maxLength: 4 },
  );
  const record = fc.record({ id: fc.uuid(), score: number, tiebreak: number, seed: fc.jsonValue() });
  fc.assert(
    fc.property(
      parts,
      fc.array(record, { maxLength: 5 }),
      fc.boolean(),
      ([a = '', b = '', c = '', d = ''], records, inText) => {
        const as = inText ? 'numeric_string' : 'number';
        const map = {
          records: spelled([a, b]),
          attempt: { attempt_id: spelled([a]) },
          score: { pointer: spelled([b, c]), as },
          tiebreak: { pointer: spelled([c]), as },
          evidence: { seed: spelled([d]) },
        };
        const spell = (value: number) => (inText ? String(value) : value);
        const own = (...members: (readonly [string, unknown])[]) => Object.fromEntries(members);
        const sent = records.map(({ id, score, tiebreak, seed }) =>
          own([a, id], [b, own([c, spell(score)])], [c, spell(tiebreak)], [d, seed]),
        );
        const read = readBody(descriptorOf({ version: 1, map }), JSON.stringify(own([a, own([b, sent])])));
        const expected = records.map(({ id, score, tiebreak, seed }) => ({
          kind: 'report',
          attempt: { kind: 'id', attemptId: id },
          score: score + 0,
          tiebreak: tiebreak + 0,
          evidenceJson: `{"seed":${JSON.stringify(seed)}}`,
          dedupe: null,
        }));
        expect(read).toEqual({ kind: 'batch', records: expected });
      },
    ),
  );
});

/**
 * Names, pointers and constants that overlap in every way; some descriptors have more of them than
 * may be saved.
 */
const costly = fc.record({
  members: fc.array(
    fc.record({
      name: fc.string({ maxLength: 40 }),
      source: fc.oneof(
        fc.constantFrom('', '/e', '/e/0', '/z', '/none', '/e/9999'),
        fc.string({ minLength: 200, maxLength: 2_000 }).map((text) => ({ const: text })),
      ),
    }),
    { minLength: 1, maxLength: 400 },
  ),
  shared: fc.integer({ min: 0, max: 20_000 }),
  items: fc.integer({ min: 0, max: 100 }),
  records: fc.integer({ min: 1, max: 100 }),
  isBroken: fc.boolean(),
});

test('a body’s size limits the cost of reading it, whatever its descriptor', () => {
  const id = '018f6f7e-2a6b-8c1d-9e3f-5a4b3c2d1e0f';
  fc.assert(
    fc.property(costly, ({ members, shared, items, records, isBroken }) => {
      const evidence = Object.fromEntries(members.map(({ name: own, source }) => [own, source]));
      const map = { attempt: { attempt_id: isBroken ? `/${'p'.repeat(400)}` : '/id' }, score: '/s', evidence };
      const parsed = parseDescriptor({ version: 1, map }, 'push_webhook');
      if (isRefused(parsed)) return;
      const e = items === 0 ? 'x'.repeat(shared) : Array(items).fill('y'.repeat(shared / 100));
      const body = JSON.stringify(Array(records).fill({ id, s: 1, e: records > 10 ? items : e, z: 1 }));

      const charCodeAt = vi.spyOn(String.prototype, 'charCodeAt');
      const read = readBody(parsed, body);
      const characters = charCodeAt.mock.calls.length;
      charCodeAt.mockRestore();
      expect(characters).toBeLessThanOrEqual(6 * body.length + 1_000);
      if (read.kind !== 'batch') throw new Error('a list is a batch');
      const evidences = read.records.map((one) => (one.kind === 'report' ? Buffer.byteLength(one.evidenceJson) : 0));
      const written = evidences.reduce((sum, bytes) => sum + bytes, 0);
      expect(written).toBeLessThanOrEqual(4 * Buffer.byteLength(body) + 65_536);
      const failures = read.records.map((one) => (one.kind === 'unreadable' ? JSON.stringify(one.failure).length : 0));
      expect(Math.max(...failures)).toBeLessThanOrEqual(600);
    }),
    { numRuns: 60 },
  );
});

test('an empty, null or absent list is an empty page, at any place in a body', () => {
  const parts = fc.array(
    name.filter((text) => text !== '-'),
    { maxLength: 4 },
  );
  const emptyAt = (path: readonly string[], list: unknown): unknown =>
    path.reduceRight<unknown>((inner, token) => Object.fromEntries([[token, inner]]), list);
  fc.assert(
    fc.property(parts, fc.nat(), fc.constantFrom([], null), (path, cut, list) => {
      const descriptor = descriptorOf({ version: 1, map: { records: spelled(path) } });
      const empty = { kind: 'batch', records: [] };
      expect(readBody(descriptor, JSON.stringify(emptyAt(path, list)))).toEqual(empty);
      if (path.length === 0) return;
      const shorter = path.slice(0, cut % path.length);
      expect(readBody(descriptor, JSON.stringify(emptyAt(shorter, {})))).toEqual(empty);
      expect(readBody(descriptor, JSON.stringify(emptyAt(shorter, null)))).toEqual(empty);
    }),
  );
});

test('reading never throws, whatever the body', () => {
  const player = { player_ref: '/0', challenge_id: '/a', pick: 'oldest' };
  const descriptors = [
    {},
    { version: 1, map: { records: '/a', attempt: player, score: '/0', evidence: { x: '' }, dedupe: '' } },
    { version: 1, map: { attempt: { attempt_id: '' }, score: '/a/0', when: [{ pointer: '', in: [null] }] } },
  ].map(descriptorOf);
  const body = fc.oneof(fc.json(), fc.string(), fc.uint8Array());
  fc.assert(
    fc.property(body, fc.constantFrom(...descriptors), (sent, descriptor) => {
      const read = readBody(descriptor, typeof sent === 'string' ? sent : Buffer.from(sent));
      expect(['single', 'batch', 'refused']).toContain(read.kind);
    }),
  );
});

/** Everything that identifies a report; each part has few values. */
const identity = fc.record({
  tenant: fc.record({
    programId: fc.constantFrom('p1', 'p2'),
    environment: fc.constantFrom('test' as const, 'live' as const),
  }),
  attemptId: fc.constantFrom('018f6f7e-2a6b-8c1d-9e3f-5a4b3c2d1e0f', '018f6f7e-2a6b-8c1d-9e3f-5a4b3c2d1e10'),
  score: fc.constantFrom(0, 1, 11),
  tiebreak: fc.constantFrom(0, 1, 11),
  evidenceJson: fc.constantFrom('', '{}', '{ }'),
});

test('two reports have the same operation id exactly if they are the same report', () => {
  fc.assert(
    fc.property(identity, identity, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(operationIdOf(one) === operationIdOf(other)).toBe(isSame);
    }),
    { numRuns: 2_000 },
  );
});

test('an operation id keeps the time of its attempt', () => {
  fc.assert(
    fc.property(identity, fc.string(), fc.string(), (report, one, other) => {
      expect(operationIdOf(report).slice(0, 13)).toBe(report.attemptId.slice(0, 13));
      expect(reportHashOf(one, other)).toHaveLength(32);
      expect(reportHashOf(one, other).equals(reportHashOf(one + other, ''))).toBe(other === '');
    }),
  );
});

test('a poll requests only its own origin, whatever the pages name, and at most max_pages pages', () => {
  const named = fc.oneof(
    fc.webUrl(),
    fc.string(),
    fc.constantFrom('//evil.example/', '/next', '?a=1', 'https://u:p@game.example/'),
  );
  const paging = fc.constantFrom(
    { type: 'cursor', param: 'c', pointer: '/n' },
    { type: 'next_url', pointer: '/n' },
    { type: 'since', param: 's', pointer: '/n' },
  );
  fc.assert(
    fc.property(
      fc.array(named, { minLength: 6, maxLength: 6 }),
      paging,
      fc.integer({ min: 1, max: 5 }),
      (pages, how, max) => {
        const pull = { url: 'https://game.example/runs', paging: how, max_pages: max };
        const descriptor = descriptorOf({ version: 1, pull });
        if (descriptor.pull === null) throw new Error('the descriptor polls');
        let request = firstRequest(descriptor.pull, null);
        for (const [index, n] of pages.entries()) {
          expect(index).toBeLessThan(max);
          expect(new URL(request.url).origin).toBe('https://game.example');
          expect(new URL(request.url).username).toBe('');
          const body = parseBody(JSON.stringify({ n }));
          if (isRefused(body)) return;
          const next = nextPage(descriptor, descriptor.pull, request, body);
          if (next.kind !== 'next') return;
          request = next.request;
        }
      },
    ),
  );
});

test('every stored cursor can be requested, whatever its length and letters', () => {
  const paging = fc.constantFrom(
    { type: 'cursor', param: 'c', pointer: '/n' },
    { type: 'next_url', pointer: '/n' },
    { type: 'since', param: 's', pointer: '/n' },
  );
  const unit = fc.constantFrom('a', '%', ' ', 'é', '😀', '&', '\\');
  const named = fc.tuple(unit, fc.integer({ min: 1, max: 2_100 })).map(([letter, count]) => letter.repeat(count));
  fc.assert(
    fc.property(named, paging, fc.integer({ min: 0, max: 900 }), (n, how, queryLength) => {
      const pull = {
        url: 'https://game.example/runs',
        query: { q: 'x'.repeat(queryLength) },
        paging: how,
        max_pages: 2,
      };
      const descriptor = descriptorOf({ version: 1, pull });
      if (descriptor.pull === null) throw new Error('the descriptor polls');
      const body = parseBody(JSON.stringify({ n }));
      if (isRefused(body)) throw new Error(body.message);
      const first = firstRequest(descriptor.pull, null);
      expect(checkUrl(first.url)).toMatchObject({ ok: true });
      const next = nextPage(descriptor, descriptor.pull, first, body);
      if (next.kind !== 'next') {
        // A relative URL may name the page itself.
        expect(how.type === 'next_url' ? ['unreadable', 'end'] : ['unreadable']).toContain(next.kind);
        return;
      }
      expect(checkUrl(next.request.url)).toMatchObject({ ok: true });
      const later = firstRequest(descriptor.pull, next.cursor);
      expect(later).toMatchObject({ url: next.request.url, cursor: next.cursor });
    }),
  );
});

test('paging starts over if a stored cursor does not fit into its URL', () => {
  const query = { q: 'x'.repeat(900) };
  const paging = { type: 'cursor', param: 'c', pointer: '/n' };
  const { pull } = descriptorOf({ version: 1, pull: { url: 'https://game.example/runs', query, paging } });
  if (pull === null) throw new Error('the descriptor polls');
  expect(firstRequest(pull, 'c'.repeat(2_048))).toEqual(firstRequest(pull, null));
});
