/**
 * What the poller does if a partner asks it to wait, forgets a cursor, or has a list that paging
 * cannot follow; over real HTTPS.
 */
import { newId } from '@laurel/values/ids';
import { afterEach, describe, expect, it } from 'vitest';
import { INTERVAL_SECONDS, type Partner, type PolledIntegration, page, usePollHarness } from './poll.fixture.ts';

const h = usePollHarness();
const INTERVAL_MS = INTERVAL_SECONDS * 1_000;
const HOUR_MS = 3_600_000;

// What one test leaves due must not be polled in another test.
afterEach(() =>
  h.database.query({
    text: `update integrations set status = 'suspended', next_poll_at = null, leased_until = null`,
  }),
);

const cursorPaging = { paging: { type: 'cursor', param: 'after', pointer: '/next' } };
const after = (ms: number) => new Date(h.clock().getTime() + ms);
const open = ({ tenant }: PolledIntegration) => h.contests.open(tenant, { playerRef: 'p', parentId: newId() });

/** Runs a sweep, and advances the clock to the next poll. */
async function poll() {
  await h.sweep();
  h.clock.advance(INTERVAL_MS);
}

const sent = (partner: Partner, name: string) =>
  partner.requests.map(({ path }) => new URL(path, partner.origin).searchParams.get(name));

describe('a partner that asks for a wait', () => {
  it.each([
    [429, '600', 600_000],
    [503, '600', 600_000],
    [429, '86400', HOUR_MS],
    // A wait shorter than the interval.
    [429, '5', INTERVAL_MS],
    [503, 'later', INTERVAL_MS],
    [500, '600', INTERVAL_MS],
    [404, '600', INTERVAL_MS],
  ])('a partner that responds %i with Retry-After: %s is polled again after %i ms', async (status, retryAfter, ms) => {
    const partner = h.partner(() => ({ status, headers: { 'retry-after': retryAfter } }));
    const integration = await h.integration(partner);
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({
      next_poll_at: after(ms),
      consecutive_failures: 1,
      last_poll_error: `http_${status}`,
    });
    h.clock.advance(ms - 1);
    await h.sweep();
    expect(partner.requests).toHaveLength(1);
    h.clock.advance(1);
    await h.sweep();
    expect(partner.requests).toHaveLength(2);
  });

  it('a Retry-After date delays the next poll until that date, even on a later page', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: cursorPaging });
    const until = new Date(Math.ceil(h.clock().getTime() / 1_000) * 1_000 + 900_000);
    const limited = { status: 429, headers: { 'retry-after': until.toUTCString() } };
    partner.respond = (_, number) => (number === 1 ? page([], { next: 'c1' }) : limited);
    await h.sweep();
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', next_poll_at: until });
  });
});

describe('a cursor that the partner refuses', () => {
  it.each([400, 410])('three responses of %i in a row drop the cursor, and paging starts over', async (status) => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: { ...cursorPaging, max_pages: 1 } });
    const attempt = open(integration);
    const records = [{ attempt, score: 5 }];
    partner.respond = ({ path }) => (path.includes('after=') ? { status } : page(records, { next: 'c1' }));
    await poll();
    for (const refusals of [1, 2]) {
      await poll();
      expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', consecutive_failures: refusals });
    }
    await poll();
    expect(await h.stored(integration)).toMatchObject({
      cursor: null,
      consecutive_failures: 3,
      last_poll_error: `http_${status}`,
    });
    await poll();
    expect(sent(partner, 'after')).toEqual([null, 'c1', 'c1', 'c1', null]);
    expect(h.contests.reportsOf(attempt)).toHaveLength(1);
    const log = (await h.log(integration)).map(({ error, records: [record] }) => error ?? record?.status);
    const refused = `http_${status}`;
    expect(log).toEqual(['settled', refused, refused, `${refused}: the cursor is dropped`, 'duplicate']);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', consecutive_failures: 0 });
    expect(h.logLines.filter((line) => line.includes(integration.id))).toEqual([
      expect.stringContaining('a cursor that its partner refuses is dropped'),
    ]);
  });

  it('a response other than 400 and 410 resets the count of refusals', async () => {
    const partner = h.partner(() => page([], { next: 'c1' }));
    const integration = await h.integration(partner, { pull: { ...cursorPaging, max_pages: 1 } });
    await poll();
    for (const status of [410, 410, 500, 410, 410]) {
      partner.respond = () => ({ status });
      await poll();
      expect(await h.stored(integration)).toMatchObject({ cursor: 'c1' });
    }
    const fresh = h.partner(() => ({ status: 400 }));
    const without = await h.integration(fresh, { pull: cursorPaging });
    for (let polls = 0; polls < 4; polls += 1) await poll();
    expect(await h.stored(without)).toMatchObject({ cursor: null, consecutive_failures: 4 });
    expect(h.logLines.join()).not.toContain(without.id);
  });

  it('a failure of this service does not change the count of refusals', async () => {
    const partner = h.partner(() => page([], { next: 'c1' }));
    const integration = await h.integration(partner, { pull: { ...cursorPaging, max_pages: 1 } });
    await poll();
    partner.respond = () => ({ status: 410 });
    await poll();
    await poll();
    const attempt = open(integration);
    h.contests.failOn(attempt, 'before');
    partner.respond = () => page([{ attempt, score: 5 }], { next: 'c2' });
    await poll();
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', consecutive_failures: 2 });
    partner.respond = () => ({ status: 410 });
    await poll();
    expect(await h.stored(integration)).toMatchObject({ cursor: null });
  });
});

describe('a cursor that no URL has room for', () => {
  it('a cursor that is too long for a URL is not stored, and its page counts as a failure', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: cursorPaging });
    const attempt = open(integration);
    partner.respond = () => page([{ attempt, score: 5 }], { next: 'c'.repeat(2_048) });
    await poll();
    await poll();
    expect(sent(partner, 'after')).toEqual([null, null]);
    expect(h.contests.reportsOf(attempt)).toHaveLength(1);
    expect(await h.stored(integration)).toMatchObject({ cursor: null, last_poll_error: 'next_page' });
  });

  it('a stored cursor that is too long for a URL is dropped', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: cursorPaging });
    const values = [integration.id, 'c'.repeat(2_048)];
    await h.database.query({ text: 'update integrations set cursor = $2 where id = $1' }, values);
    await poll();
    expect(sent(partner, 'after')).toEqual([null]);
    expect(await h.stored(integration)).toMatchObject({ cursor: null, consecutive_failures: 0 });
  });
});

describe('paging by since with many records of one instant', () => {
  type Run = { readonly attempt: string; readonly score: number; readonly at: string };

  /**
   * Makes the partner's list return the records from `since` on, including those of exactly that
   * instant, `size` per page.
   */
  function listOf(partner: Partner, runs: readonly Run[], size: number) {
    partner.respond = ({ path }) => {
      const since = new URL(path, partner.origin).searchParams.get('since') ?? '';
      return page(runs.filter(({ at }) => at >= since).slice(0, size));
    };
  }

  async function integrationOf(partner: Partner, query: Readonly<Record<string, string>> = {}) {
    return await h.integration(partner, {
      pull: { query, paging: { type: 'since', param: 'since', pointer: '/at' } },
    });
  }

  const runsAt = (integration: PolledIntegration, instants: readonly string[]): Run[] =>
    instants.map((at, score) => ({ attempt: open(integration), score, at }));
  const many = (count: number, at: string) => Array<string>(count).fill(at);

  it.each<readonly [what: string, size: number, query: Readonly<Record<string, string>>, before: readonly string[]]>([
    ['as many as a page may have', 100, {}, []],
    ['as many as the request asks for', 3, { page_size: '3' }, []],
    ['as many as the page before it, which was full', 3, {}, ['t1', 't2', 't3']],
  ])('a page of %s is a lasting failure, although its records are settled', async (_what, size, query, before) => {
    const partner = h.partner();
    const integration = await integrationOf(partner, query);
    const runs = runsAt(integration, [...before, ...many(size + 1, 't5')]);
    listOf(partner, runs, size);
    for (const failures of [1, 2, 3]) {
      await poll();
      expect(await h.stored(integration)).toMatchObject({
        cursor: 't5',
        consecutive_failures: failures,
        last_poll_error: 'same_instant',
      });
    }
    const [last] = (await h.log(integration)).slice(-1);
    expect(last).toMatchObject({ error: 'same_instant' });
    expect(last?.records).toHaveLength(size);
    const lastRun = runs.at(-1) as Run;
    expect(h.contests.reportsOf(lastRun.attempt)).toHaveLength(0);

    // After a larger page and a newer record, the poll continues and the failure is over.
    listOf(partner, runsAt(integration, [...many(2, 't5'), 't6']), size);
    await poll();
    expect(await h.stored(integration)).toMatchObject({
      cursor: 't6',
      consecutive_failures: 0,
      last_poll_error: null,
    });
  });

  it.each([
    ['one record', 1, {}],
    ['several records', 5, {}],
    ['fewer records than the request asks for', 5, { limit: '6' }],
    ['as many records as a parameter that is not a size', 5, { version: '5' }],
  ])('%s of the latest instant are read again with every poll, without a failure', async (_what, count, query) => {
    const partner = h.partner();
    const integration = await integrationOf(partner, query);
    listOf(partner, runsAt(integration, ['t1', ...many(count, 't5')]), 50);
    for (let polls = 0; polls < 3; polls += 1) await poll();
    expect(await h.stored(integration)).toMatchObject({
      cursor: 't5',
      consecutive_failures: 0,
      last_poll_error: null,
    });
  });
});

describe('a list with the newest records first', () => {
  /**
   * Makes the partner's list return pages of `size`, newest first; `next` is the number of records
   * before the next page.
   */
  function listOf(partner: Partner, records: readonly object[], size: number) {
    partner.respond = ({ path }) => {
      const from = Number(new URL(path, partner.origin).searchParams.get('after') ?? 0);
      const next = from + size < records.length ? String(from + size) : null;
      return page(records.slice(from, from + size), { next });
    };
  }

  const backwards = (maxPages: number) => ({
    paging: { ...cursorPaging.paging, order: 'newest_first' },
    max_pages: maxPages,
  });
  const settledIn = (attempts: readonly { attempt: string }[]) =>
    attempts.filter(({ attempt }) => h.contests.reportsOf(attempt).length === 1).length;
  const run = (integration: PolledIntegration) => ({ attempt: open(integration), score: 1 });

  it('every poll of a newest-first list begins with the first page and ends at a known page', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: backwards(5) });
    const records = Array.from({ length: 6 }, () => run(integration));
    listOf(partner, records, 2);
    await poll();
    expect(sent(partner, 'after')).toEqual([null, '2', '4']);
    expect(await h.stored(integration)).toMatchObject({ cursor: null, consecutive_failures: 0 });

    records.unshift(run(integration), run(integration), run(integration));
    await poll();
    // The second page has a new record, the third has none.
    expect(sent(partner, 'after').slice(3)).toEqual([null, '2', '4']);
    await poll();
    expect(sent(partner, 'after').slice(6)).toEqual([null]);
    expect(settledIn(records)).toBe(9);
    expect(records.map(({ attempt }) => h.contests.reportsOf(attempt).length)).toEqual(Array(9).fill(1));
  });

  it('a list longer than max_pages is continued by the next poll without losing a record', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: backwards(2) });
    const records = Array.from({ length: 12 }, () => run(integration));
    listOf(partner, records, 2);
    await poll();
    expect(await h.stored(integration)).toMatchObject({ cursor: '4' });
    // After a whole page of new records, the next poll resumes with a page that it already knows.
    records.unshift(run(integration), run(integration));
    for (let polls = 0; polls < 8; polls += 1) await poll();
    expect(settledIn(records)).toBe(14);
    expect(await h.stored(integration)).toMatchObject({ cursor: null, consecutive_failures: 0 });
  });

  it('unreadable records do not count as known ones', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: backwards(5) });
    const bad = [{ attempt: 'a1' }, { attempt: 'a2' }];
    const records = [...bad, run(integration)];
    listOf(partner, records, 2);
    await poll();
    expect(settledIn(records as { attempt: string }[])).toBe(1);
    expect(sent(partner, 'after')).toEqual([null, '2']);
  });

  it('a poll without the order newest_first begins at the stored cursor', async () => {
    const partner = h.partner();
    const integration = await h.integration(partner, { pull: cursorPaging });
    listOf(
      partner,
      Array.from({ length: 4 }, () => run(integration)),
      2,
    );
    await poll();
    await poll();
    expect(sent(partner, 'after')).toEqual([null, '2', '2']);
  });
});
