/**
 * A process that dies between two steps of a send: what it leaves, and what repairs it. A failpoint
 * that throws there simulates the crash.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { queueOf } from '../domain/delivery-queues.ts';
import { ERROR_SENTENCES } from '../domain/send-result.ts';
import type { FailpointName } from '../failpoints.ts';
import { LEASE_MS, suspended, useDispatchHarness } from './deliver.fixture.ts';

// Runs before any import, because the library reads the folder's path when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const h = useDispatchHarness();
afterEach(() => h.database.query({ text: 'truncate deliveries, delivery_attempts' }));

const arm = (name: FailpointName) => writeFileSync(join(failpoints, name), 'throw');
const isArmed = (name: FailpointName) => existsSync(join(failpoints, name));
const INTERRUPTED = {
  http_status: null,
  error_kind: 'interrupted',
  error: ERROR_SENTENCES.interrupted,
  response_excerpt: null,
};

/** Consumes an event for a new endpoint, with a fault injected at one step of its first send. */
async function interruptedAt(name: FailpointName) {
  const target = h.receiver.url();
  const endpoint = await h.endpoint(target.url);
  arm(name);
  await h.consume([suspended(endpoint, h.clock())]);
  await h.dispatcher.whenIdle();
  expect(isArmed(name)).toBe(false);
  const delivery = async () => (await h.deliveries(endpoint.id))[0];
  return { target, endpoint, delivery };
}

describe('a crash', () => {
  it('a delivery whose lease was not committed before a crash is sent once', async () => {
    const { target, delivery } = await interruptedAt('webhook.lease.before-commit');
    expect(target.received).toHaveLength(1);
    expect(await delivery()).toMatchObject({
      status: 'delivered',
      attempts: 1,
      sends: [{ number: 1, http_status: 200 }],
    });
  });

  it.each([
    ['webhook.lease.after-commit', 0],
    ['webhook.send.before-request', 0],
    ['webhook.send.after-request', 1],
    ['webhook.record.before-commit', 1],
  ] as const)(
    'a crash at %s leaves a lease; once it expires the next send goes out, and the log shows both',
    async (name, sent) => {
      const { target, delivery } = await interruptedAt(name);
      const leased = {
        status: 'pending',
        attempts: 1,
        leased_until: new Date(h.clock().getTime() + LEASE_MS),
        sends: [],
      };
      expect(target.received).toHaveLength(sent);
      expect(await delivery()).toMatchObject(leased);

      h.clock.advance(LEASE_MS - 1);
      await h.sweep();
      expect(await delivery()).toMatchObject({ status: 'pending', attempts: 1, sends: [] });
      h.clock.advance(1);
      await h.sweep();
      expect(target.received).toHaveLength(sent + 1);
      expect(await delivery()).toMatchObject({
        status: 'delivered',
        attempts: 2,
        leased_until: null,
        sends: [
          { number: 1, ...INTERRUPTED },
          { number: 2, http_status: 200, error_kind: null },
        ],
      });
    },
  );

  it('a crash after the end of a send was committed leaves nothing to repair', async () => {
    const { target, delivery } = await interruptedAt('webhook.record.after-commit');
    expect(await delivery()).toMatchObject({
      status: 'delivered',
      attempts: 1,
      sends: [{ number: 1, http_status: 200 }],
    });
    h.clock.advance(LEASE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(1);
  });

  it('a crash at each of three sends fails the delivery without a fourth send', async () => {
    const { target, delivery } = await interruptedAt('webhook.send.after-request');
    for (const attempts of [2, 3]) {
      arm('webhook.send.after-request');
      h.clock.advance(LEASE_MS);
      await h.sweep();
      expect(await delivery()).toMatchObject({ status: 'pending', attempts });
    }
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      h.clock.advance(LEASE_MS);
      await h.sweep();
    }
    expect(target.received).toHaveLength(3);
    expect(await delivery()).toMatchObject({
      status: 'failed',
      attempts: 3,
      next_attempt_at: null,
      closed_at: null,
      sends: [1, 2, 3].map((number) => ({ number, ...INTERRUPTED })),
    });
  });
});

/** Resolves once this message is logged; lines logged before the call do not count. */
async function logged(message: string): Promise<void> {
  const from = h.logLines.length;
  await vi.waitFor(() => expect(h.logLines.slice(from).join()).toContain(message), 10_000);
}

describe('an unreachable database', () => {
  it('a send that ends while the database is unreachable is recorded later', async () => {
    const answer = Promise.withResolvers<void>();
    const target = h.receiver.url((response) => void answer.promise.then(() => response.end()));
    const endpoint = await h.endpoint(target.url);
    await h.consume([suspended(endpoint, h.clock())]);
    await target.arrivals(1);
    {
      await using _ = await h.outage();
      answer.resolve();
      await logged('the ends of sends could not be recorded');
    }
    await h.dispatcher.whenIdle();
    expect(await h.deliveries(endpoint.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    h.clock.advance(LEASE_MS);
    await h.sweep();
    expect(target.received).toHaveLength(1);
  });

  it('a delivery that falls due while the database is unreachable is leased once the database responds', async () => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    arm('webhook.consume.after-commit');
    await expect(h.consume([suspended(endpoint, h.clock())])).rejects.toThrow('failpoint');
    {
      await using _ = await h.outage();
      h.dispatcher.wake([queueOf({ ...endpoint, endpointId: endpoint.id })]);
      await logged('sends could not be leased');
    }
    await h.dispatcher.whenIdle();
    expect(target.received).toHaveLength(1);
  });
});

describe('a batch of events', () => {
  it('a batch of events whose commit failed is stored completely on redelivery', async () => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    const events = [suspended(endpoint, h.clock()), suspended(endpoint, h.clock())];
    arm('webhook.consume.before-commit');
    await expect(h.consume(events)).rejects.toThrow('failpoint');
    expect(await h.deliveries(endpoint.id)).toEqual([]);
    await h.consume(events);
    await h.dispatcher.whenIdle();
    expect(target.received).toHaveLength(2);
  });

  it('a batch whose commit got no response is delivered once, even if it is redelivered', async () => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    const events = [suspended(endpoint, h.clock())];
    arm('webhook.consume.after-commit');
    await expect(h.consume(events)).rejects.toThrow('failpoint');
    expect(await h.deliveries(endpoint.id)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    await h.consume(events);
    await h.sweep();
    expect(target.received).toHaveLength(1);
    expect(await h.deliveries(endpoint.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });
});
