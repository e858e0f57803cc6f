import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mintApiKey } from './api-key.ts';
import { MAX_KEPT_BYTES, redactBody, redactPath, redactShortText } from './redaction.ts';

const NAMES = ['signing_secret', 'password', 'api_key', 'Authorization', 'previousSecret', 'access_token', 'email'];
const secretName = fc.constantFrom(...NAMES);
/** A text so unusual that no other part of a body contains it by chance. */
const secret = fc.uuid().map((text) => `z${text.replaceAll('-', 'q')}`);
const email = fc.tuple(secret, fc.domain()).map(([local, domain]) => `${local}@${domain}`);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => mintApiKey('live', Buffer.from(bytes)).key);
/** A value that must not be kept, even under an ordinary name. */
const sensitive = fc.oneof(email, key);
const json = fc.jsonValue({ maxDepth: 4 });
/** Escapes some characters, as a client may: the text of a string in JSON. */
const escaped = (text: string) =>
  `"${[...text].map((c, i) => (i % 3 === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`;
const wrap = (value: string, depth: number) => `${'{"a":['.repeat(depth)}${value}${']}'.repeat(depth)}`;

describe('a body in the request log', () => {
  test.each(['secret', 'token', 'email', 'api_key', '@', 'sk_test_', '\\u0040', 'token ', '"token', 'a@', 'token":'])(
    'the time to redact a body that repeats %s grows with its length, not with the square',
    (part) => {
      const bodyOf = (bytes: number) => JSON.stringify({ metadata: { note: part.repeat(bytes / part.length) } });
      const timeOf = (bytes: number) => {
        const body = bodyOf(bytes);
        const times = Array.from({ length: 7 }, () => {
          const start = performance.now();
          redactBody(body);
          return performance.now() - start;
        });
        return Math.min(...times);
      };
      timeOf(4_000);
      // A quadratic pattern would take sixteen times as long for a text four times as long, and
      // some 200 ms at the full length.
      expect(timeOf(16_000)).toBeLessThan(Math.max(8 * timeOf(4_000), 10));
    },
  );

  test('redaction removes every e-mail and API key, at any place in a body', () => {
    const around = fc.tuple(json, json, fc.nat(60), fc.boolean(), fc.string());
    fc.assert(
      fc.property(sensitive, around, (text, [before, after, depth, isEscaped, beside]) => {
        const string = isEscaped ? escaped(text) : JSON.stringify(`${beside} ${text}`);
        const body = `[${JSON.stringify(before)},${wrap(string, depth)},${JSON.stringify(after)}]`;
        const kept = redactBody(body).text;
        expect(kept).not.toContain(text);
        expect(kept).not.toContain(string);
        expect(() => JSON.parse(kept)).not.toThrow();
      }),
    );
  });

  test('no value of a secret member is kept, whatever its type and depth', () => {
    fc.assert(
      fc.property(secretName, secret, fc.nat(60), fc.nat(3), fc.boolean(), (name, text, depth, form, isEscaped) => {
        const value = [`"${text}"`, `["${text}"]`, `{"a":{"b":"${text}"}}`, `"\\"${text}\\\\"`][form] ?? '';
        const member = `{${isEscaped ? escaped(name) : `"${name}"`} : ${value}, "metadata":{"level":7.10}}`;
        const kept = redactBody(wrap(member, depth)).text;
        expect(kept).not.toContain(text);
        expect(kept).toContain('{"level":7.10}');
        expect(() => JSON.parse(kept)).not.toThrow();
      }),
    );
  });

  test('redaction removes every secret from JSON that is a string of another body', () => {
    fc.assert(
      fc.property(secretName, secret, fc.integer({ min: 1, max: 3 }), (name, text, times) => {
        let body: string = JSON.stringify({ [name]: text });
        for (let n = 0; n < times; n += 1) body = JSON.stringify({ metadata: body });
        expect(redactBody(body).text).not.toContain(text);
      }),
    );
  });

  test('redaction removes every e-mail and secret from a body that is not JSON', () => {
    fc.assert(
      fc.property(secretName, secret, email, fc.string(), fc.nat(4), (name, text, address, noise, form) => {
        const body = [
          `{"${name}: "${text}"} ${noise}`,
          `{"${name}": "${text}"`,
          `${noise}{'${name}': '${text}'}`,
          `${name}=${text}&b=1`,
          `{"player": "${address}", ${noise}`,
        ][form];
        fc.pre(body !== undefined);
        const kept = redactBody(body).text;
        expect(kept).not.toContain(text);
        expect(kept).not.toContain(address);
      }),
    );
  });

  test('a secret that is cut off at the end of the kept part is redacted', () => {
    fc.assert(
      fc.property(
        fc.oneof(sensitive, secret),
        fc.integer({ min: -120, max: 20 }),
        fc.boolean(),
        (text, at, isMember) => {
          const name = isMember ? 'signing_secret' : 'note';
          fc.pre(isMember || text.includes('@') || text.startsWith('sk_'));
          const body = `{"evidence":"${'x'.repeat(MAX_KEPT_BYTES + at)}","${name}":"${text}","more":"${'x'.repeat(400)}"}`;
          const kept = redactBody(body);
          expect(kept.isTruncated).toBe(true);
          expect(Buffer.byteLength(kept.text)).toBeLessThanOrEqual(MAX_KEPT_BYTES);
          const tail = kept.text.slice(kept.text.indexOf(`"${name}":"`) + name.length + 4);
          if (kept.text.includes(`"${name}":"`)) expect('[redacted]","more":"').toContain(tail.slice(0, 10));
        },
      ),
    );
  });

  test('a body without e-mails and secrets is kept unchanged', () => {
    const ordinary = fc
      .string()
      .filter((text) => !/[@%\\]|secret|token|mail|pwd|passw|key|cookie|auth|cred/i.test(text));
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        ordinary,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(ordinary, tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (any) => {
        const body = JSON.stringify(any, null, 1);
        fc.pre(body.length < 5_000);
        expect(redactBody(body)).toEqual({ text: body, isTruncated: false });
      }),
    );
  });

  test('metadata, evidence and numbers are kept unchanged', () => {
    const body =
      '{"email":"a@b.example","metadata":{"handle":"@ann","level":7.10},"evidence":[12345678901234567890],"secret":null}';
    const text =
      '{"email":"[redacted]","metadata":{"handle":"@ann","level":7.10},"evidence":[12345678901234567890],"secret":null}';
    expect(redactBody(body)).toEqual({ text, isTruncated: false });
  });

  test('at most 16 KiB of a body are kept', () => {
    const kept = redactBody(JSON.stringify({ note: '\u20ac'.repeat(MAX_KEPT_BYTES) }));
    expect(kept.isTruncated).toBe(true);
    expect(Buffer.byteLength(kept.text)).toBeLessThanOrEqual(MAX_KEPT_BYTES);
    expect(kept.text).not.toContain('\ufffd');
  });

  test('a body nested as deeply as a body can be is kept', () => {
    const body = `${'['.repeat(100_000)}"a@b.example"${']'.repeat(100_000)}`;
    expect(redactBody(body).text).toBe('['.repeat(MAX_KEPT_BYTES));
    expect(redactBody(`{"secret":${body}}`).text).not.toContain('a@b');
  });

  test('a body that PostgreSQL could not store is kept without its NUL', () => {
    expect(redactBody('a\0b').text).toBe('a\ufffdb');
  });
});

test('a redacted path keeps its ids and loses e-mails, keys and secret parameters', () => {
  expect(redactPath('/v1/attempts/0192/outcome?limit=5&cursor=WyI')).toBe(
    '/v1/attempts/0192/outcome?limit=5&cursor=WyI',
  );
  expect(redactPath('/v1/players/ann%40b.example?player_ref=ann@b.example')).toBe('/v1/players/[redacted]?[redacted]');
  expect(redactPath('/v1/challenges?api_key=abc&limit=1')).toBe('/v1/challenges?[redacted]&limit=1');
  fc.assert(
    fc.property(secretName, secret, email, (name, text, address) => {
      const path = redactPath(`/v1/a/${encodeURIComponent(address)}?${encodeURIComponent(name)}=${text}&q=${address}`);
      expect(path).not.toContain(text);
      expect(path).not.toContain(address);
      expect(decodeURIComponent(path)).not.toContain(address);
    }),
  );
});

test('a header that is an e-mail or a secret is redacted', () => {
  expect(redactShortText('laurel-sdk/1.2 node/24')).toBe('laurel-sdk/1.2 node/24');
  expect(redactShortText('bot (ann@b.example)')).toBe('[redacted]');
});

test('a header is cut at 255 characters, and an e-mail at the cut is redacted', () => {
  expect(redactShortText('x'.repeat(65_536))).toBe('x'.repeat(255));
  expect(redactShortText(`${'x'.repeat(254)}n@b.example`)).toBe('[redacted]');
});
