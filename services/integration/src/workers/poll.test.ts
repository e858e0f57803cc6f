/** What a poll requests, settles and records, over real HTTPS and a real database. */

import { metrics } from '@laurel/telemetry';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterEach, describe, expect, it } from 'vitest';
import {
  INTERVAL_SECONDS,
  type Partner,
  type PolledIntegration,
  page,
  type Respond,
  usePollHarness,
} from './poll.fixture.ts';

const h = usePollHarness();
const INTERVAL_MS = INTERVAL_SECONDS * 1_000;

// What one test leaves due must not be polled in another test.
afterEach(() =>
  h.database.query({
    text: `update integrations set status = 'suspended', next_poll_at = null, leased_until = null`,
  }),
);

const open = ({ tenant }: PolledIntegration) => h.contests.open(tenant, { playerRef: 'p', parentId: newId() });
const json =
  (value: object): Respond =>
  () => ({ body: JSON.stringify(value) });
const after = (ms: number) => new Date(h.clock().getTime() + ms);
const recordsOf = async (integration: PolledIntegration) => (await h.log(integration)).map(({ records }) => records);

/** The parameter of each request, in order; null if the request did not send one. */
const sent = (partner: Partner, name: string) => partner.queries().map((query) => new URLSearchParams(query).get(name));

describe('a page', () => {
  it('a page is requested as the descriptor says, settled and logged', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, {
      pull: { query: { game: 'chess' }, headers: { 'X-Client': 'laurel' } },
    });
    const [attempt, other] = [open(integration), open(integration)];
    partner.respond = () =>
      page([
        { attempt, score: 7 },
        { attempt: other, score: 9 },
      ]);
    await h.sweep();

    expect(partner.requests).toHaveLength(1);
    expect(partner.requests[0]).toMatchObject({ method: 'GET', headers: { 'x-client': 'laurel' } });
    expect(partner.queries()).toEqual(['?game=chess']);
    expect(h.contests.reportsOf(attempt)).toMatchObject([{ score: 7 }]);
    expect(h.contests.reportsOf(other)).toMatchObject([{ score: 9 }]);
    expect(await h.log(integration)).toEqual([
      {
        error: null,
        body_excerpt: JSON.stringify({
          events: [
            { attempt, score: 7 },
            { attempt: other, score: 9 },
          ],
        }),
        records: [
          { index: 0, attempt_id: attempt, status: 'settled' },
          { index: 1, attempt_id: other, status: 'settled' },
        ],
      },
    ]);
    expect(await h.stored(integration)).toEqual({
      cursor: null,
      last_polled_at: h.clock(),
      next_poll_at: after(INTERVAL_MS),
      consecutive_failures: 0,
      last_poll_error: null,
      leased_until: null,
      lease_number: 1n,
    });
  });

  it('an integration is polled once per interval, and missed polls are not made up for', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner);
    await h.sweep();
    h.clock.advance(INTERVAL_MS - 1);
    await h.sweep();
    expect(partner.requests).toHaveLength(1);
    h.clock.advance(1);
    await h.sweep();
    expect(partner.requests).toHaveLength(2);
    h.clock.advance(5.5 * INTERVAL_MS);
    await h.sweep();
    await h.sweep();
    expect(partner.requests).toHaveLength(3);
    expect(await h.stored(integration)).toMatchObject({
      last_polled_at: h.clock(),
      next_poll_at: after(INTERVAL_MS),
    });
  });

  it('the next poll is due one interval after the start of the running poll', async () => {
    const held = Promise.withResolvers<void>();
    const partner = h.partner(() => ({ ...page([]), after: held.promise }));
    const [slow, off] = [await h.integration(partner), await h.integration(partner)];
    const begunAt = h.clock();
    await h.poller.runOnce(h.clock());
    await partner.arrivals(2);
    await h.database.query({ text: 'update integrations set pull_interval_seconds = 90 where id = $1' }, [slow.id]);
    await h.database.query(
      { text: `update integrations set status = 'suspended', next_poll_at = null where id = $1` },
      [off.id],
    );
    h.clock.advance(20_000);
    held.resolve();
    await h.poller.whenIdle();
    expect(await h.stored(slow)).toMatchObject({
      last_polled_at: begunAt,
      next_poll_at: new Date(begunAt.getTime() + 90_000),
      leased_until: null,
    });
    expect(await h.stored(off)).toMatchObject({ last_polled_at: begunAt, next_poll_at: null, leased_until: null });
  });

  it('drafts, suspended integrations and closed programs are not polled', async () => {
    const partner = h.partner();
    await h.integration(partner, { status: 'draft' });
    await h.integration(partner, { status: 'suspended' });
    await h.integration(partner, { openEnvironments: ['live'] });
    await h.integration(partner, { openEnvironments: [] });
    await h.sweep();
    expect(partner.requests).toHaveLength(0);
  });

  it.each(['{"events":[]}', '{"events":null}', '{}', '{"data":[]}', 'null'])(
    'the page %s is empty: its poll succeeds, its log entry has no record, and the cursor stays',
    async (body) => {
      const partner = h.partner(() => ({ body }));
      const pull = { paging: { type: 'since', param: 'since', pointer: '/at' } };
      const integration = await h.integration(partner, { pull });
      await h.sweep();
      expect(partner.requests).toHaveLength(1);
      expect(await h.log(integration)).toMatchObject([{ error: null, records: [] }]);
      expect(await h.stored(integration)).toMatchObject({
        cursor: null,
        consecutive_failures: 0,
        last_poll_error: null,
      });
    },
  );

  it('unreadable and refused records are logged and skipped', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, {
      pull: { paging: { type: 'cursor', param: 'after', pointer: '/next' }, max_pages: 1 },
    });
    const attempt = open(integration);
    const unknown = newOwnedId('challenge');
    partner.respond = () =>
      page([{ attempt, score: 'seven' }, { attempt: unknown, score: 1 }, { score: 2 }, { attempt, score: 3 }], {
        next: 'c1',
      });
    await h.sweep();
    expect(h.contests.reportsOf(attempt)).toMatchObject([{ score: 3 }]);
    expect(await recordsOf(integration)).toMatchObject([
      [
        { index: 0, status: 'rejected', code: 'invalid_request' },
        { index: 1, status: 'rejected', code: 'not_found', attempt_id: unknown },
        { index: 2, status: 'rejected', code: 'invalid_request' },
        { index: 3, status: 'settled', attempt_id: attempt },
      ],
    ]);
    expect(await h.stored(integration)).toMatchObject({
      cursor: 'c1',
      consecutive_failures: 0,
      last_poll_error: null,
    });
  });
});

describe('paging', () => {
  it('a poll without paging requests the same single page every time', async () => {
    const partner = h.partner(json({ events: [], next: 'c1' }));
    const integration = await h.integration(partner);
    await h.sweep();
    h.clock.advance(INTERVAL_MS);
    await h.sweep();
    expect(partner.queries()).toEqual(['', '']);
    expect(await h.stored(integration)).toMatchObject({ cursor: null });
  });

  it('a poll with paging by cursor continues where the previous poll ended', async () => {
    const partner = h.partner((_, number) => page([], { next: `c${number}` }));
    const integration = await h.integration(partner, {
      pull: { paging: { type: 'cursor', param: 'after', pointer: '/next' }, max_pages: 3 },
    });
    await h.sweep();
    expect(sent(partner, 'after')).toEqual([null, 'c1', 'c2']);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c3' });
    expect(await h.log(integration)).toHaveLength(3);

    partner.respond = () => page([], { next: null });
    h.clock.advance(INTERVAL_MS);
    await h.sweep();
    expect(sent(partner, 'after').slice(3)).toEqual(['c3']);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c3', next_poll_at: after(INTERVAL_MS) });
  });

  it('with paging by next_url, each page names the next one, on the same origin', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: { paging: { type: 'next_url', pointer: '/next' } } });
    partner.respond = (_, number) => page([], { next: number < 3 ? `${partner.url}?page=${number + 1}` : null });
    await h.sweep();
    expect(sent(partner, 'page')).toEqual([null, '2', '3']);
    expect(await h.stored(integration)).toMatchObject({ cursor: `${partner.url}?page=3` });
  });

  it('with paging by since, the next request continues from the last record of the page', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, {
      pull: { paging: { type: 'since', param: 'since', pointer: '/at', initial: '0' } },
    });
    const attempts = [open(integration), open(integration)];
    partner.respond = (_, number) => {
      const attempt = attempts[number - 1];
      return page(attempt === undefined ? [] : [{ attempt, score: 1, at: `t${number}` }]);
    };
    await h.sweep();
    expect(sent(partner, 'since')).toEqual(['0', 't1', 't2']);
    expect(await h.stored(integration)).toMatchObject({ cursor: 't2' });
    for (const attempt of attempts) expect(h.contests.reportsOf(attempt)).toHaveLength(1);
  });

  it('a page that repeats its own cursor is the last one of its poll', async () => {
    const partner = h.partner(() => page([], { next: 'again' }));
    const integration = await h.integration(partner, {
      pull: { paging: { type: 'cursor', param: 'after', pointer: '/next' } },
    });
    await h.sweep();
    expect(sent(partner, 'after')).toEqual([null, 'again']);
    expect(await h.stored(integration)).toMatchObject({
      cursor: 'again',
      consecutive_failures: 0,
      leased_until: null,
    });
  });

  it.each(['https://127.0.0.2/steal', 'http://127.0.0.1/steal', 'https://user@127.0.0.1:1/steal'])(
    'a next_url of another origin (%s) is never requested, with the secret or without it; its page is settled',
    async (next) => {
      const partner = h.partner();
      const integration = await h.integration(partner, {
        pull: { paging: { type: 'next_url', pointer: '/next' }, auth: { type: 'bearer' } },
        secret: 'partner-token',
      });
      const attempt = open(integration);
      partner.respond = () => page([{ attempt, score: 4 }], { next });
      const before = h.receiver.requests.length;
      await h.sweep();
      expect(h.receiver.requests.length - before).toBe(1);
      expect(h.contests.reportsOf(attempt)).toHaveLength(1);
      expect(await h.stored(integration)).toMatchObject({
        cursor: null,
        consecutive_failures: 1,
        last_poll_error: 'next_page',
      });
    },
  );
});

describe('authentication', () => {
  it.each([
    ['header', { type: 'header', name: 'X-Api-Key' }, { 'x-api-key': 's3cret' }],
    ['bearer', { type: 'bearer' }, { authorization: 'Bearer s3cret' }],
    ['basic', { type: 'basic', username: 'laurel' }, { authorization: `Basic ${btoa('laurel:s3cret')}` }],
  ])('%s: the stored secret is sent and never logged', async (_, auth, headers) => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: { auth }, secret: 's3cret' });
    await h.sweep();
    expect(partner.requests.map((request) => request.headers)).toMatchObject([headers]);
    expect(await h.stored(integration)).toMatchObject({ consecutive_failures: 0 });
    expect(h.logLines.join()).not.toContain('s3cret');
  });

  it('a secret that was stored for another origin is never sent', async () => {
    const partner = h.partner();
    const stored = { url: partner.url, origin: 'https://other.example' };
    const integration = await h.integration(stored, { pull: { auth: { type: 'bearer' } }, secret: 's3cret' });
    await h.sweep();
    expect(partner.requests).toHaveLength(0);
    expect(await h.log(integration)).toMatchObject([{ error: 'internal_error', records: [] }]);
  });
});

describe('the budget of a program', () => {
  it('a poll beyond the program’s budget ends after its current page', async () => {
    const large = 'x'.repeat(900_000);
    const paged = { pull: { paging: { type: 'cursor', param: 'after', pointer: '/next' } } };
    const [partner, other] = [h.partner(), h.partner()];
    const integration = await h.integration(partner, paged);
    partner.respond = (_request, number) => page([], { next: String(number), large });
    await h.sweep();
    // The third of five pages exceeds the budget: two seconds at a MiB per second.
    expect(sent(partner, 'after')).toEqual([null, '1', '2']);
    expect(await h.stored(integration)).toMatchObject({
      cursor: '3',
      consecutive_failures: 0,
      last_poll_error: null,
    });

    await h.database.query({ text: 'update integrations set next_poll_at = $2 where id = $1' }, [
      integration.id,
      h.clock(),
    ]);
    await h.integration(other);
    await h.sweep();
    expect([partner.requests.length, other.requests.length]).toEqual([3, 1]);
    h.clock.advance(1_000);
    await h.sweep();
    expect(sent(partner, 'after').at(3)).toBe('3');
  });
});

describe('the metrics of polls', () => {
  /** Polls that ended, by environment and outcome. */
  async function ended(): Promise<Readonly<Record<string, number>>> {
    const { values = [] } = (await metrics.getSingleMetric('laurel_integration_polls_total')?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [`${labels.environment} ${labels.outcome}`, value]));
  }

  it('a poll counts in the environment of its integration', async () => {
    const before = await ended();
    const failing = h.partner(() => ({ status: 500, body: '' }));
    await h.integration(failing);
    await h.integration(failing);
    await h.integration(
      h.partner(() => page([])),
      { environment: 'live' },
    );
    await h.sweep();
    const after = await ended();
    const rises = (label: string) => (after[label] ?? 0) - (before[label] ?? 0);
    expect(['test http', 'live succeeded', 'live http', 'test succeeded'].map(rises)).toEqual([2, 1, 0, 0]);
  });
});
