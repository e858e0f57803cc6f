import { isRefused } from '@laurel/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideChange,
  decideFirstInterval,
  decideIntegrationLimit,
  decideRotation,
  type Integration,
  type IntegrationChange,
  MAX_INTEGRATIONS,
} from './integration.ts';

const NOW = new Date('2026-11-22T12:00:00.000Z');
const NO_CHANGE: IntegrationChange = { status: undefined, pullIntervalSeconds: undefined, descriptor: undefined };
const POLL: Integration = {
  id: '11111111-1111-7111-8111-111111111111',
  tenant: { programId: '22222222-2222-7222-8222-222222222222', environment: 'live' },
  transport: 'pull_poll',
  status: 'draft',
  descriptor: '{"pull":{"url":"https://example.com/results"}}',
  hasSigningSecret: false,
  hasPullSecret: false,
  pullOrigin: 'https://example.com',
  pullIntervalSeconds: 60,
  lastPolledAt: null,
  nextPollAt: null,
  consecutiveFailures: 0,
  lastPollError: null,
  createdAt: NOW,
};
const PUSH: Integration = {
  ...POLL,
  transport: 'push_webhook',
  hasSigningSecret: true,
  pullOrigin: null,
  pullIntervalSeconds: null,
};

const invalid = (message: string) => ({ kind: 'refused', code: 'invalid_request', message });
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const change = (from: Integration, sent: Partial<IntegrationChange>, at = NOW) =>
  decideChange(from, { ...NO_CHANGE, ...sent }, at);

it('a tenant may have at most 100 integrations', () => {
  expect(MAX_INTEGRATIONS).toBe(100);
  expect(decideIntegrationLimit(99)).toBeNull();
  for (const count of [100, 101]) expect(decideIntegrationLimit(count)).toMatchObject({ code: 'conflict' });
});

describe('the interval of polls', () => {
  it('a new pull_poll is polled every minute unless the partner sets another interval', () => {
    expect(decideFirstInterval('pull_poll', undefined)).toBe(60);
    expect(decideFirstInterval('pull_poll', 30)).toBe(30);
    expect(decideFirstInterval('push_webhook', undefined)).toBeNull();
    expect(decideFirstInterval('sdk_direct', undefined)).toBeNull();
  });

  it('only a pull_poll has an interval, of at least 30 seconds', () => {
    for (const sent of [29, 0, -60]) {
      const refusal = invalid('pull_interval_seconds must be a whole number of at least 30.');
      expect(decideFirstInterval('pull_poll', sent)).toEqual(refusal);
      expect(change(POLL, { pullIntervalSeconds: sent })).toEqual(refusal);
    }
    expect(decideFirstInterval('pull_poll', 2 ** 31 - 1)).toBe(2 ** 31 - 1);
    expect(decideFirstInterval('pull_poll', 2 ** 31)).toEqual(
      invalid('pull_interval_seconds must be at most 2147483647.'),
    );
    for (const transport of ['push_webhook', 'sdk_direct'] as const) {
      const refusal = invalid('pull_interval_seconds is for pull_poll alone.');
      expect(decideFirstInterval(transport, 60)).toEqual(refusal);
      expect(change({ ...PUSH, transport }, { pullIntervalSeconds: 60 })).toEqual(refusal);
    }
  });
});

describe('activation', () => {
  it('a push_webhook without a signing secret cannot be active', () => {
    const refusal = invalid('A push_webhook without a signing secret cannot be active.');
    expect(change({ ...PUSH, hasSigningSecret: false }, { status: 'active' })).toEqual(refusal);
    expect(change(PUSH, { status: 'active' })).toEqual({ ...PUSH, status: 'active' });
  });

  it('a pull_poll without a URL cannot be active', () => {
    const refusal = invalid('A pull_poll whose descriptor has no pull.url cannot be active.');
    const without = { text: '{}', pullOrigin: null };
    expect(change({ ...POLL, pullOrigin: null }, { status: 'active' })).toEqual(refusal);
    const active: Integration = { ...POLL, status: 'active', nextPollAt: NOW };
    expect(change(active, { descriptor: without })).toEqual(refusal);
    expect(change(active, { descriptor: without, status: 'suspended' })).toMatchObject({ status: 'suspended' });
  });

  it('an sdk_direct can be activated without further settings', () => {
    const sdk: Integration = { ...PUSH, transport: 'sdk_direct', hasSigningSecret: false };
    expect(change(sdk, { status: 'active' })).toEqual({ ...sdk, status: 'active' });
  });

  it('only a push_webhook has a secret to rotate', () => {
    expect(decideRotation(PUSH)).toBeNull();
    for (const transport of ['pull_poll', 'sdk_direct'] as const)
      expect(decideRotation({ transport })).toEqual(invalid('Only a push_webhook has a signing secret.'));
  });
});

describe('the next poll', () => {
  it('activating a pull_poll makes its poll due now', () => {
    const active = change(POLL, { status: 'active' });
    expect(active).toEqual({ ...POLL, status: 'active', nextPollAt: NOW });
    for (const status of ['draft', 'suspended'] as const)
      expect(change(active as Integration, { status })).toMatchObject({ status, nextPollAt: null });
  });

  it('suspending and activating a pull_poll does not shorten its interval', () => {
    const polled: Integration = { ...POLL, status: 'suspended', lastPolledAt: later(-20) };
    expect(change(polled, { status: 'active' })).toMatchObject({ nextPollAt: later(40) });
    expect(change({ ...polled, lastPolledAt: later(-90) }, { status: 'active' })).toMatchObject({ nextPollAt: NOW });
  });

  it('a changed interval counts from the start of the last poll', () => {
    const active: Integration = { ...POLL, status: 'active', lastPolledAt: later(-20), nextPollAt: later(40) };
    expect(change(active, { pullIntervalSeconds: 300 })).toMatchObject({ nextPollAt: later(280) });
    expect(change(active, { pullIntervalSeconds: 30 })).toMatchObject({ nextPollAt: later(10) });
    expect(change(active, { pullIntervalSeconds: 60 })).toMatchObject({ nextPollAt: later(40) });
  });

  it('changing the interval, or suspending and activating, cancels a wait that the partner’s server asked for', () => {
    const waiting: Integration = { ...POLL, status: 'active', lastPolledAt: later(-20), nextPollAt: later(3_580) };
    expect(change(waiting, { pullIntervalSeconds: 90 })).toMatchObject({ nextPollAt: later(70) });
    expect(change(waiting, { pullIntervalSeconds: 60 })).toMatchObject({ nextPollAt: later(3_580) });
    const off = change(waiting, { status: 'suspended' });
    expect(change(off as Integration, { status: 'active' })).toMatchObject({ nextPollAt: later(40) });
  });

  it('after any changes a pull_poll is due exactly if it is active', () => {
    const changes = fc.array(
      fc.record({
        status: fc.constantFrom(undefined, 'draft', 'active', 'suspended'),
        pullIntervalSeconds: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
        descriptor: fc.constantFrom(
          undefined,
          { text: '{}', pullOrigin: null },
          { text: '{"a":1}', pullOrigin: 'https://a.b' },
        ),
        seconds: fc.nat(100),
        isPolled: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(POLL, PUSH, { ...PUSH, hasSigningSecret: false }), changes, (first, steps) => {
        let current: Integration = first;
        let now = NOW.getTime();
        for (const { seconds, isPolled, ...sent } of steps) {
          now += seconds * 1_000;
          if (isPolled && current.nextPollAt !== null && current.nextPollAt.getTime() <= now) {
            const next = now + (current.pullIntervalSeconds ?? 0) * 1_000;
            current = { ...current, lastPolledAt: new Date(now), nextPollAt: new Date(next) };
          }
          const decided = decideChange(current, sent, new Date(now));
          if (isRefused(decided)) continue;
          current = decided;
          const { transport, status, nextPollAt, lastPolledAt, pullIntervalSeconds } = current;
          expect(nextPollAt !== null).toBe(transport === 'pull_poll' && status === 'active');
          if (status === 'active' && transport === 'pull_poll') expect(current.pullOrigin).not.toBeNull();
          if (status === 'active' && transport === 'push_webhook') expect(current.hasSigningSecret).toBe(true);
          if (nextPollAt !== null && lastPolledAt !== null) {
            const gap = nextPollAt.getTime() - lastPolledAt.getTime();
            expect(gap).toBeGreaterThanOrEqual((pullIntervalSeconds ?? 0) * 1_000);
            expect(gap).toBeGreaterThanOrEqual(30_000);
          }
        }
      }),
    );
  });
});
