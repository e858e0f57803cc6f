/**
 * Leases of polls: what a process that dies leaves, and what another replica does with it. A
 * failpoint that throws simulates the crash.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@laurel/ids';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { FailpointName } from '../failpoints.ts';
import { INTERVAL_SECONDS, LEASE_MS, page, useRig } from './poll.fixture.ts';

// Runs before any import, because the library reads the folder's path when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const rig = useRig();
afterEach(() =>
  rig.database.query({
    text: `update integrations set status = 'suspended', next_poll_at = null, leased_until = null`,
  }),
);

const INTERVAL_MS = INTERVAL_SECONDS * 1_000;
const paging = { paging: { type: 'cursor', param: 'after', pointer: '/next' }, max_pages: 1 };
const arm = (name: FailpointName) => writeFileSync(join(failpoints, name), 'throw');
const isArmed = (name: FailpointName) => existsSync(join(failpoints, name));

/** An integration whose only page has one report. */
async function withReport() {
  const partner = rig.partner();
  const integration = await rig.integration(partner, { pull: paging });
  const attempt = rig.contests.open(integration.tenant, { playerRef: 'p', parentId: newId() });
  partner.respond = () => page([{ attempt, score: 5 }], { next: 'c1' });
  return { partner, integration, attempt };
}

describe('a crash', () => {
  it('a crash between settlement and cursor leaves both the lease and the cursor; the repeated page is a duplicate', async () => {
    const { partner, integration, attempt } = await withReport();
    const begunAt = rig.clock();
    arm('integration.poll.before-commit');
    await rig.sweep();
    expect(isArmed('integration.poll.before-commit')).toBe(false);
    expect(rig.contests.reportsOf(attempt)).toHaveLength(1);
    expect(await rig.log(integration)).toEqual([]);
    expect(await rig.stored(integration)).toMatchObject({
      cursor: null,
      leased_until: new Date(begunAt.getTime() + LEASE_MS),
      next_poll_at: begunAt,
    });

    await using other = rig.startPoller();
    rig.clock.advance(LEASE_MS - 1);
    await rig.sweep(other);
    expect(partner.requests).toHaveLength(1);
    rig.clock.advance(1);
    await rig.sweep(other);
    expect(partner.queries()).toEqual(['', '']);
    expect(rig.contests.reportsOf(attempt)).toHaveLength(1);
    expect(await rig.log(integration)).toMatchObject([{ records: [{ attempt_id: attempt, status: 'duplicate' }] }]);
    expect(await rig.stored(integration)).toMatchObject({
      cursor: 'c1',
      leased_until: null,
      last_polled_at: rig.clock(),
      next_poll_at: new Date(rig.clock().getTime() + INTERVAL_MS),
      consecutive_failures: 0,
    });
  });

  it('a crash before the lease is committed leaves the poll due', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.before-lease');
    await rig.sweep();
    expect(partner.requests).toHaveLength(0);
    await rig.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await rig.stored(integration)).toMatchObject({ cursor: 'c1' });
  });

  it('a crash after the lease, before any request, costs the time of the lease', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.after-lease');
    await rig.sweep();
    expect(partner.requests).toHaveLength(0);
    rig.clock.advance(LEASE_MS);
    await rig.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await rig.stored(integration)).toMatchObject({ cursor: 'c1', lease_number: 2n });
  });

  it('a crash after the commit costs nothing, because the poll has ended', async () => {
    const { partner, integration } = await withReport();
    arm('integration.poll.after-commit');
    await rig.sweep();
    rig.clock.advance(INTERVAL_MS - 1);
    await rig.sweep();
    expect(partner.requests).toHaveLength(1);
    expect(await rig.stored(integration)).toMatchObject({ cursor: 'c1', leased_until: null });
  });
});

describe('replicas', () => {
  it('two replicas that sweep at once poll each integration once per interval', async () => {
    const partners = Array.from({ length: 40 }, () => rig.partner());
    for (const partner of partners) await rig.integration(partner);
    await using other = rig.startPoller();
    for (let interval = 1; interval <= 3; interval += 1) {
      await Promise.all([rig.poller.runOnce(rig.clock()), other.runOnce(rig.clock())]);
      await Promise.all([rig.poller.whenIdle(), other.whenIdle()]);
      await Promise.all([rig.sweep(), rig.sweep(other)]);
      expect(partners.map(({ requests }) => requests.length)).toEqual(partners.map(() => interval));
      rig.clock.advance(INTERVAL_MS);
    }
  });

  it('a replica whose lease expired during a poll changes nothing', async () => {
    const { partner, integration, attempt } = await withReport();
    const held = Promise.withResolvers<void>();
    partner.respond = (_, number) => {
      const records = page([{ attempt, score: 5 }], { next: number === 1 ? 'stale' : 'fresh' });
      return number === 1 ? { ...records, after: held.promise } : records;
    };
    await rig.poller.runOnce(rig.clock());
    await partner.arrivals(1);

    await using other = rig.startPoller();
    rig.clock.advance(LEASE_MS);
    await rig.sweep(other);
    const fresh = await rig.stored(integration);
    expect(fresh).toMatchObject({ cursor: 'fresh', lease_number: 2n, leased_until: null });

    held.resolve();
    await rig.poller.whenIdle();
    expect(await rig.stored(integration)).toEqual(fresh);
    expect(await rig.log(integration)).toHaveLength(1);
    expect(rig.contests.reportsOf(attempt)).toHaveLength(1);
  });

  it('a lease that another replica holds is not taken, and one integration is in flight once', async () => {
    const held = Promise.withResolvers<void>();
    const partner = rig.partner(() => ({ ...page([]), after: held.promise }));
    await rig.integration(partner);
    await using other = rig.startPoller();
    await rig.poller.runOnce(rig.clock());
    await partner.arrivals(1);
    rig.clock.advance(LEASE_MS - 1);
    await Promise.all([rig.poller.runOnce(rig.clock()), other.runOnce(rig.clock())]);
    held.resolve();
    await Promise.all([rig.poller.whenIdle(), other.whenIdle()]);
    expect(partner.requests).toHaveLength(1);
  });
});

describe('slots', () => {
  it('a partner that does not respond takes only its share, and every other integration is polled', async () => {
    const held = Promise.withResolvers<void>();
    const hung = rig.partner(() => ({ ...page([]), after: held.promise }));
    // Another name makes the same server another origin.
    const hungOrigin = hung.origin.replace('127.0.0.1', 'localhost');
    for (let index = 0; index < 20; index += 1) {
      await rig.integration({ url: hung.url.replace(hung.origin, hungOrigin), origin: hungOrigin });
    }
    rig.clock.advance(1_000);
    const prompt = Array.from({ length: 20 }, () => rig.partner());
    for (const partner of prompt) await rig.integration(partner);

    await using poller = rig.startPoller({ polls: 8, pollsPerOrigin: 2 });
    await poller.runOnce(rig.clock());
    await Promise.all(prompt.map(({ arrivals }) => arrivals(1)));
    await hung.arrivals(2);
    expect(hung.requests).toHaveLength(2);
    held.resolve();
    await poller.whenIdle();
    expect(hung.requests).toHaveLength(20);
  });
});
