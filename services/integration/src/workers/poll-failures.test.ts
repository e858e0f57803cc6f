/**
 * Polls that fail, over real HTTPS: which failures count against the partner, which do not, and
 * that the cursor stays.
 */

import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { startReceiver } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterEach, describe, expect, it } from 'vitest';
import { INTERVAL_SECONDS, page, type Respond, usePollHarness } from './poll.fixture.ts';

const h = usePollHarness();
const INTERVAL_MS = INTERVAL_SECONDS * 1_000;
/** The timeout of pages that must time out. */
const SHORT_MS = 300;
const MAX_PAGE_BYTES = 1_048_576;

// What one test leaves due must not be polled in another test.
afterEach(() =>
  h.database.query({
    text: `update integrations set status = 'suspended', next_poll_at = null, leased_until = null`,
  }),
);

const cursorPaging = { paging: { type: 'cursor', param: 'after', pointer: '/next' } };

describe('a failure of the partner', () => {
  it.each<[string, Respond, string]>([
    ['a redirect', () => ({ status: 302, headers: { location: 'https://127.0.0.1:1/' } }), 'http_302'],
    ['no content', () => ({ status: 204 }), 'http_204'],
    ['a client error', () => ({ status: 404, body: '{"events":[]}' }), 'http_404'],
    ['a server error', () => ({ status: 503 }), 'http_503'],
    ['no response', () => 'never', 'timeout'],
    ['a body that never ends', () => ({ body: '{"events":[', isEndless: true }), 'timeout'],
    ['a broken connection', () => 'reset', 'protocol'],
    ['an endless body', () => ({ body: Buffer.alloc(MAX_PAGE_BYTES + 1, ' '), isEndless: true }), 'body_too_large'],
    ['a body one byte too large', () => ({ body: `[]${' '.repeat(MAX_PAGE_BYTES - 1)}` }), 'body_too_large'],
    ['a body that is not JSON', () => ({ body: '<html>' }), 'not_json'],
    ['a body that is not UTF-8', () => ({ body: Buffer.from([0x7b, 0xff, 0x00, 0x7d]) }), 'not_json'],
    ['too many records', () => page(Array(101).fill({ score: 1 })), 'unreadable'],
    ['a cursor of the wrong type', () => page([], { next: { is: 'an object' } }), 'next_page'],
  ])('%s is counted and logged as a failure of its kind', async (_, respond, kind) => {
    const partner = h.partner(respond);
    const integration = await h.integration(partner, { pull: cursorPaging });
    await using poller = h.startPoller({ timeoutMs: kind === 'timeout' ? SHORT_MS : 10_000 });
    await h.sweep(poller);
    expect(partner.requests).toHaveLength(1);
    expect(await h.stored(integration)).toMatchObject({
      cursor: null,
      consecutive_failures: 1,
      last_poll_error: kind,
      leased_until: null,
      last_polled_at: h.clock(),
      next_poll_at: new Date(h.clock().getTime() + INTERVAL_MS),
    });
    expect(await h.log(integration)).toMatchObject([{ error: kind, records: [] }]);
  });

  it.each([
    ['https://127.86.3.9:1025', 'connect'],
    ['https://10.0.0.1', 'blocked'],
    ['https://laurel.invalid', 'dns'],
  ])('an origin that cannot be reached (%s) is a failure of the kind %s', async (origin, kind) => {
    const integration = await h.integration({ url: `${origin}/results`, origin });
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({ consecutive_failures: 1, last_poll_error: kind });
  });

  it('a certificate of another authority is a failure of the kind tls', async () => {
    await using other = await startReceiver({ ca: await createCertificateAuthority() });
    const integration = await h.integration({ url: `${other.url}/results`, origin: other.url });
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({ consecutive_failures: 1, last_poll_error: 'tls' });
    expect(other.requests).toHaveLength(0);
  });

  it('any number of failures leaves the integration active', async () => {
    const partner = h.partner(() => ({ status: 500 }));
    const integration = await h.integration(partner);
    for (let failures = 1; failures <= 12; failures += 1) {
      await h.sweep();
      expect(await h.stored(integration)).toMatchObject({
        consecutive_failures: failures,
        last_poll_error: 'http_500',
      });
      h.clock.advance(INTERVAL_MS);
    }
    partner.respond = () => page([]);
    await h.sweep();
    expect(partner.requests).toHaveLength(13);
    expect(await h.stored(integration)).toMatchObject({ consecutive_failures: 0, last_poll_error: null });
  });

  it('a poll whose second page fails keeps the first page’s cursor and counts as failed', async () => {
    const partner = h.partner((_, number) => (number % 2 === 1 ? page([], { next: `c${number}` }) : { status: 500 }));
    const integration = await h.integration(partner, { pull: cursorPaging });
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', consecutive_failures: 1, leased_until: null });
    h.clock.advance(INTERVAL_MS);
    await h.sweep();
    expect(partner.queries()).toEqual(['', '?after=c1', '?after=c1', '?after=c3']);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c3', consecutive_failures: 2 });
    // Log entries of one instant have no order.
    const errors = (await h.log(integration)).map(({ error }) => error ?? 'none');
    expect(errors.toSorted()).toEqual(['http_500', 'http_500', 'none', 'none']);
  });
});

describe('a failure of this service', () => {
  it('a failure of the contest service leaves the cursor unchanged', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: { ...cursorPaging, max_pages: 1 } });
    const open = () => h.contests.open(integration.tenant, { playerRef: 'p', parentId: newId() });
    const [attempt, other] = [open(), open()];
    const records = [
      { attempt, score: 5 },
      { attempt: other, score: 6 },
    ];
    partner.respond = () => page(records, { next: 'c1' });
    h.contests.failOn(attempt, 'before');
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({
      cursor: null,
      consecutive_failures: 0,
      last_poll_error: null,
      leased_until: null,
      next_poll_at: new Date(h.clock().getTime() + INTERVAL_MS),
    });
    expect(await h.log(integration)).toMatchObject([{ error: 'internal_error', records: [] }]);

    h.clock.advance(INTERVAL_MS);
    await h.sweep();
    expect(partner.queries()).toEqual(['', '']);
    expect((await h.log(integration))[1]).toMatchObject({
      error: null,
      records: [
        { attempt_id: attempt, status: 'settled' },
        { attempt_id: other, status: 'duplicate' },
      ],
    });
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1' });
    for (const id of [attempt, other]) expect(h.contests.reportsOf(id)).toHaveLength(1);
  });

  it('a failure of this service leaves the count of the partner’s failures unchanged', async () => {
    const partner = h.partner(() => ({ status: 500 }));
    const integration = await h.integration(partner);
    await h.sweep();
    const attempt = h.contests.open(integration.tenant, { playerRef: 'p', parentId: newId() });
    partner.respond = () => page([{ attempt, score: 5 }]);
    h.contests.failOn(attempt, 'after');
    h.clock.advance(INTERVAL_MS);
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({ consecutive_failures: 1, last_poll_error: 'http_500' });
  });
});
