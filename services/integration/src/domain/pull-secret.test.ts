import { isRefused } from '@laurel/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Pull, parseDescriptor } from './descriptor.ts';
import { cursorStaysValid, decidePullSecret, originOf, withoutPullSecret } from './pull-secret.ts';

const SECRET = 'the-very-secret';
const AUTHS = {
  header: { type: 'header', name: 'X-Key', value: SECRET },
  bearer: { type: 'bearer', token: SECRET },
  basic: { type: 'basic', username: 'laurel', password: SECRET },
} as const;

function pullOf(pull: Record<string, unknown>): Pull {
  const descriptor = parseDescriptor(
    { version: 1, pull: { url: 'https://example.com/results', ...pull } },
    'pull_poll',
  );
  if (isRefused(descriptor) || descriptor.pull === null) throw new Error('the descriptor has no pull');
  return descriptor.pull;
}

const withoutSecret = (type: keyof typeof AUTHS) => {
  const { value, token, password, ...auth } = AUTHS[type] as Record<string, string>;
  return { url: 'https://example.com/results', auth };
};

describe('the text of a descriptor that is stored', () => {
  it.each(Object.values(AUTHS))('the descriptor of $type is stored whole except for the secret', (auth) => {
    const json = { version: 1, 'x-note': 'ours', pull: { url: 'https://example.com/', auth, query: { a: '1' } } };
    const descriptor = parseDescriptor(json, 'pull_poll');
    if (isRefused(descriptor)) throw new Error(descriptor.message);
    const text = withoutPullSecret(descriptor, json);
    expect(text).not.toContain(SECRET);
    const { value, token, password, ...shown } = auth as Record<string, string>;
    expect(JSON.parse(text)).toEqual({ ...json, pull: { ...json.pull, auth: shown } });
  });

  it('a descriptor without authentication is stored unchanged', () => {
    for (const json of [
      {},
      { version: 1, pull: { url: 'https://example.com/' } },
      { version: 1, pull: { url: 'https://a.b/', auth: { type: 'none' } } },
    ]) {
      const descriptor = parseDescriptor(json, 'pull_poll');
      if (isRefused(descriptor)) throw new Error(descriptor.message);
      expect(withoutPullSecret(descriptor, json)).toBe(JSON.stringify(json));
    }
  });
});

describe('what becomes of the secret of a poll', () => {
  it('a new secret replaces the stored one, and requests without authentication remove it', () => {
    const stored = pullOf(withoutSecret('bearer'));
    expect(decidePullSecret(pullOf({ auth: AUTHS.bearer }), stored)).toEqual({ kind: 'replace', secret: SECRET });
    expect(decidePullSecret(pullOf({}), stored)).toEqual({ kind: 'remove' });
    expect(decidePullSecret(null, stored)).toEqual({ kind: 'remove' });
  });

  it('the stored secret is kept if an update omits it and the origin stays the same', () => {
    const stored = pullOf(withoutSecret('header'));
    const moved = pullOf({ ...withoutSecret('header'), url: 'https://EXAMPLE.com:443/other?page=2' });
    expect(decidePullSecret(moved, stored)).toEqual({ kind: 'keep' });
  });

  it('a stored secret is never kept for a request to another origin or of another authentication type', () => {
    const origins = ['https://example.com', 'https://example.com:8443', 'https://example.org', 'https://a.example.com'];
    const pull = fc.record({
      origin: fc.constantFrom(...origins),
      type: fc.constantFrom('header', 'bearer', 'basic'),
    });
    const at = ({ origin, type }: { origin: string; type: 'header' | 'bearer' | 'basic' }) =>
      pullOf({ ...withoutSecret(type), url: `${origin}/results` });
    fc.assert(
      fc.property(pull, pull, (before, after) => {
        const decided = decidePullSecret(at(after), at(before));
        const isSame = before.origin === after.origin && before.type === after.type;
        expect(isRefused(decided)).toBe(!isSame);
        if (isSame) expect(decided).toEqual({ kind: 'keep' });
      }),
    );
  });

  it('a first secret must be sent', () => {
    const message = 'pull.auth.password must be sent: it is kept for its origin and type alone.';
    expect(decidePullSecret(pullOf(withoutSecret('basic')), null)).toEqual({
      kind: 'refused',
      code: 'invalid_request',
      message,
    });
  });
});

describe('where the next poll continues', () => {
  it('the stored cursor is dropped exactly if the URL, the query or the paging changes', () => {
    const paging = { type: 'cursor', param: 'after', pointer: '/next' };
    const before = pullOf({ paging });
    for (const other of [{ url: 'https://example.com/v2' }, { query: { a: '1' } }, { paging: { type: 'none' } }])
      expect(cursorStaysValid(before, pullOf({ paging, ...other }))).toBe(false);
    expect(cursorStaysValid(before, null)).toBe(false);
    for (const same of [{}, { auth: AUTHS.bearer }, { headers: { 'X-A': '1' } }, { max_pages: 2 }])
      expect(cursorStaysValid(before, pullOf({ paging, ...same }))).toBe(true);
    expect(cursorStaysValid(null, null)).toBe(true);
  });

  it('the origin of a URL has neither a path nor a default port', () => {
    expect(originOf(pullOf({ url: 'https://Example.com:443/a?b' }))).toBe('https://example.com');
    expect(originOf(null)).toBeNull();
  });
});
