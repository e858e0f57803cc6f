/**
 * Leases of polls: what a process that dies leaves, and what another replica does with it. A
 * failpoint that throws simulates the crash.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@laurel/values/ids';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { FailpointName } from '../failpoints.ts';
import { INTERVAL_SECONDS, LEASE_MS, page, usePollHarness } from './poll.fixture.ts';

// Runs before any import, because the library reads the folder's path when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const h = usePollHarness();
afterEach(() =>
  h.database.query({
    text: `update integrations set status = 'suspended', next_poll_at = null, leased_until = null`,
  }),
);

const INTERVAL_MS = INTERVAL_SECONDS * 1_000;
const paging = { paging: { type: 'cursor', param: 'after', pointer: '/next' }, max_pages: 1 };
const arm = (name: FailpointName) => writeFileSync(join(failpoints, name), 'throw');
const isArmed = (name: FailpointName) => existsSync(join(failpoints, name));

/** An integration whose only page has one report. */
async function withReport() {
  const partner = h.partner();
  const integration = await h.integration(partner, { pull: paging });
  const attempt = h.contests.open(integration.tenant, { playerRef: 'p', parentId: newId() });
  partner.respond = () => page([{ attempt, score: 5 }], { next: 'c1' });
  return { partner, integration, attempt };
}

describe('a crash', () => {
  it('a page that was settled before a crash is requested again, and its records are duplicates', async () => {
    const { partner, integration, attempt } = await withReport();
    const begunAt = h.clock();
    arm('integration.poll.before-commit');
    await h.sweep();
    expect(isArmed('integration.poll.before-commit')).toBe(false);
    expect(h.contests.reportsOf(attempt)).toHaveLength(1);
    expect(await h.log(integration)).toEqual([]);
    expect(await h.stored(integration)).toMatchObject({
      cursor: null,
      leased_until: new Date(begunAt.getTime() + LEASE_MS),
      next_poll_at: begunAt,
    });

    await using other = h.startPoller();
    h.clock.advance(LEASE_MS - 1);
    await h.sweep(other);
    expect(partner.requests).toHaveLength(1);
    h.clock.advance(1);
    await h.sweep(other);
    expect(partner.queries()).toEqual(['', '']);
    expect(h.contests.reportsOf(attempt)).toHaveLength(1);
    expect(await h.log(integration)).toMatchObject([{ records: [{ attempt_id: attempt, status: 'duplicate' }] }]);
    expect(await h.stored(integration)).toMatchObject({
      cursor: 'c1',
      leased_until: null,
      last_polled_at: h.clock(),
      next_poll_at: new Date(h.clock().getTime() + INTERVAL_MS),
      consecutive_failures: 0,
    });
  });

  it('a crash before the lease is committed leaves the poll due', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.before-lease');
    await h.sweep();
    expect(partner.requests).toHaveLength(0);
    await h.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1' });
  });

  it('a crash after the lease and before any request delays the poll until the lease expires', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.after-lease');
    await h.sweep();
    expect(partner.requests).toHaveLength(0);
    h.clock.advance(LEASE_MS);
    await h.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', lease_number: 2n });
  });

  it('a crash after the commit has no effect, because the poll has ended', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.after-commit');
    await h.sweep();
    h.clock.advance(INTERVAL_MS - 1);
    await h.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await h.stored(integration)).toMatchObject({ cursor: 'c1', leased_until: null });
  });
});

describe('replicas', () => {
  it('two replicas that sweep at the same time poll each integration once per interval', async () => {
    const partners = Array.from({ length: 40 }, () => h.partner());
    for (const partner of partners) await h.integration(partner);
    await using other = h.startPoller();
    for (let interval = 1; interval <= 3; interval += 1) {
      await Promise.all([h.poller.runOnce(h.clock()), other.runOnce(h.clock())]);
      await Promise.all([h.poller.whenIdle(), other.whenIdle()]);
      await Promise.all([h.sweep(), h.sweep(other)]);
      expect(partners.map(({ requests }) => requests.length)).toEqual(partners.map(() => interval));
      h.clock.advance(INTERVAL_MS);
    }
  });

  it('a replica whose lease expired during a poll changes nothing', async () => {
    const { partner, integration, attempt } = await withReport();
    const held = Promise.withResolvers<void>();
    partner.respond = (_, number) => {
      const records = page([{ attempt, score: 5 }], { next: number === 1 ? 'stale' : 'fresh' });
      return number === 1 ? { ...records, after: held.promise } : records;
    };
    await h.poller.runOnce(h.clock());
    await partner.arrivals(1);

    await using other = h.startPoller();
    h.clock.advance(LEASE_MS);
    await h.sweep(other);
    const fresh = await h.stored(integration);
    expect(fresh).toMatchObject({ cursor: 'fresh', lease_number: 2n, leased_until: null });

    held.resolve();
    await h.poller.whenIdle();
    expect(await h.stored(integration)).toEqual(fresh);
    expect(await h.log(integration)).toHaveLength(1);
    expect(h.contests.reportsOf(attempt)).toHaveLength(1);
  });

  it('two replicas never poll one integration at the same time', async () => {
    const held = Promise.withResolvers<void>();
    const partner = h.partner(() => ({ ...page([]), after: held.promise }));
    await h.integration(partner);
    await using other = h.startPoller();
    await h.poller.runOnce(h.clock());
    await partner.arrivals(1);
    h.clock.advance(LEASE_MS - 1);
    await Promise.all([h.poller.runOnce(h.clock()), other.runOnce(h.clock())]);
    held.resolve();
    await Promise.all([h.poller.whenIdle(), other.whenIdle()]);
    expect(partner.requests).toHaveLength(1);
  });
});

describe('slots', () => {
  it('a partner that does not respond does not delay the polls of other partners', async () => {
    const held = Promise.withResolvers<void>();
    const hung = h.partner(() => ({ ...page([]), after: held.promise }));
    // Another name makes the same server another origin.
    const hungOrigin = hung.origin.replace('127.0.0.1', 'localhost');
    for (let index = 0; index < 20; index += 1) {
      await h.integration({ url: hung.url.replace(hung.origin, hungOrigin), origin: hungOrigin });
    }
    h.clock.advance(1_000);
    const prompt = Array.from({ length: 20 }, () => h.partner());
    for (const partner of prompt) await h.integration(partner);

    await using poller = h.startPoller({ polls: 8, pollsPerOrigin: 2 });
    await poller.runOnce(h.clock());
    await Promise.all(prompt.map(({ arrivals }) => arrivals(1)));
    await hung.arrivals(2);
    expect(hung.requests).toHaveLength(2);
    held.resolve();
    await poller.whenIdle();
    expect(hung.requests).toHaveLength(20);
  });
});
