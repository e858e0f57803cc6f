/**
 * Limits how often callers push to an integration (`routes/push-outcome.ts`). The limits apply
 * before a byte of a body is read and before any secret is compared. They bound what a caller
 * without a secret can use up. A flood at one integration takes nothing from another integration or
 * from `/v1`.
 *
 * - A network is known to an integration for an hour after each push with a valid signature. The
 *   sender in an unknown network may know nothing but the URL. Known and unknown networks are
 *   counted apart: however many networks flood an integration, its partner's pushes continue.
 * - A push is checked in this order. First, the network's minute over all integrations. Then, for
 *   an unknown network, its bytes in a second (`unknown-pushes.ts`) and its own share of the
 *   integration's minute, a tenth. Last, the integration's minute, of which there are two: one for
 *   known networks, one for unknown ones. A request that one check refuses does not count in the
 *   later checks. So one network alone cannot keep another from making its first push and becoming
 *   known by it.
 * - Bytes are limited per program and environment, over all of its integrations, once a signature
 *   has shown whose the integration is. A push counts as PUSH_BYTES plus its body; after its
 *   response, the extra cost of reading the push is added. So one API key is limited by the work
 *   that it causes, whatever the number and size of its pushes.
 * - Pushes under way are limited per integration, separately for known networks and for others:
 *   further pushes would only wait. One unknown network may have two thirds of that many under way,
 *   over all integrations.
 * - Each process counts by itself, by its own clock. The tables are bounded. A network that names
 *   many non-existent integrations pushes out the oldest entries of other networks, no faster than
 *   its own limit allows, and never an entry that a valid signature has made.
 * - What this does not prevent: callers that share a network count as one caller. A caller that has
 *   a body that the partner signed can send it, which makes the caller's network known.
 */
import { createTenantBudgets, type Environment, type Tenant } from '@laurel/values/tenant';
import { LRUCache } from 'lru-cache';
import { countRequests, type RateWindow, remainingAt, retryAfterSeconds, WINDOW_MS } from '../domain/rate-window.ts';
import { createUnknownPushes, type UnknownPushes } from './unknown-pushes.ts';

export interface PushLimits {
  /** `bytes` is the announced length of the body. */
  admit(integrationId: string, network: string, bytes: number): PushAdmission;
}

export type PushAdmission = AdmittedPush | LimitedPush;

export interface AdmittedPush {
  readonly kind: 'admitted';
  /** Whether the network was known to the integration. */
  readonly isKnown: boolean;
  /** The integration's environment; null until a signature has shown it. */
  readonly environment: Environment | null;
  /**
   * The signature proved valid: the network is known from now on, and so is the integration's
   * tenant, whose budget the push's cost is taken from.
   */
  readonly makeKnown: (pushCost: PushCost | null) => void;
  /** Ends the push: it no longer counts as under way. A second call changes nothing. */
  readonly release: () => void;
}

/** The tenant of the integration, and the extra cost of reading the push, as bytes of body. */
export interface PushCost {
  readonly tenant: Tenant;
  readonly extraCostBytes: number;
}

export interface LimitedPush {
  readonly kind: 'limited';
  /**
   * The limit that refused the push: requests in a minute, requests under way, or bytes in a
   * second.
   */
  readonly limit: number;
  readonly retryAfterSeconds: number;
  readonly resetAt: Date;
}

/** The defaults, each for one process. */
export const DEFAULT_PUSHES = {
  perIntegrationAndMinute: 6_000,
  perNetworkAndMinute: 12_000,
  liveKibPerSecond: 16 * 1024,
  testKibPerSecond: 1024,
} as const;

const MAX_COUNTED_ITEMS = 10_000;
const KNOWN_FOR_MS = 3_600_000;
/**
 * This many unknown networks together use up the minute that an integration has for all unknown
 * networks.
 */
const OTHERS_IN_A_MINUTE = 10;
/**
 * The most pushes of one integration under way: two batches with the most items
 * (`clients/pushes.ts`). With more under way, a push to another integration would wait behind them.
 */
const MAX_IN_FLIGHT = 96;
/** What a push costs even with an empty body, expressed as so many bytes of body. */
const PUSH_BYTES = 1024;
const SECOND_MS = 1_000;

/** `now` counts milliseconds; tests advance it. */
export function createPushLimits(options: {
  readonly perIntegration: number;
  readonly perAddress: number;
  readonly unknownBytesPerSecond: number;
  /** The bytes per second of one program. */
  readonly bytesPerSecond: Readonly<Record<Environment, number>>;
  readonly maxInFlight?: number;
  readonly now?: () => number;
}): PushLimits {
  const { perIntegration, perAddress, maxInFlight = MAX_IN_FLIGHT, now = Date.now } = options;
  const networkWindows = new LRUCache<string, RateWindow>({ max: MAX_COUNTED_ITEMS });
  const unknownPairWindows = new LRUCache<string, RateWindow>({ max: MAX_COUNTED_ITEMS });
  const unknownWindows = new LRUCache<string, RateWindow>({ max: MAX_COUNTED_ITEMS });
  const knownWindows = new LRUCache<string, RateWindow>({ max: MAX_COUNTED_ITEMS });
  /** Until when an integration knows a network, by integration and network. */
  const knownUntil = new LRUCache<string, number>({ max: MAX_COUNTED_ITEMS });
  const tenants = new LRUCache<string, Tenant>({ max: MAX_COUNTED_ITEMS });
  const budgets = createTenantBudgets(options.bytesPerSecond);
  const inFlight = new Map<string, number>();
  const unknownPushes = createUnknownPushes(options.unknownBytesPerSecond);
  const perUnknownNetwork = Math.ceil(perIntegration / OTHERS_IN_A_MINUTE);
  const maxInFlightOfUnknown = Math.floor((maxInFlight * 2) / 3);

  return {
    admit(integrationId, network, bytes) {
      const at = now();
      const pair = `${integrationId} ${network}`;
      const isKnown = at < (knownUntil.get(pair) ?? 0);
      const push = { integrationId, network, bytes };
      const limited =
        count(networkWindows, network, perAddress, at) ??
        (isKnown ? null : refuseBytes(unknownPushes.waitFor(push, at), at)) ??
        (isKnown ? null : count(unknownPairWindows, pair, perUnknownNetwork, at)) ??
        count(isKnown ? knownWindows : unknownWindows, integrationId, perIntegration, at);
      if (limited !== null) return limited;
      const tenant = tenants.get(integrationId) ?? null;
      const cost = PUSH_BYTES + bytes;
      const waitMs = tenant === null ? 0 : budgets.waitFor(tenant, cost, at);
      if (tenant !== null && waitMs > 0) return refusalOf({ waitMs, bytesPerSecond: budgets.limitOf(tenant) }, at);

      const queues = isKnown
        ? [{ name: `known ${integrationId}`, limit: maxInFlight }]
        : [
            { name: network, limit: maxInFlightOfUnknown },
            { name: `others ${integrationId}`, limit: maxInFlight },
          ];
      const full = queues.find(({ name, limit }) => (inFlight.get(name) ?? 0) >= limit);
      if (full !== undefined) {
        return { kind: 'limited', limit: full.limit, retryAfterSeconds: 1, resetAt: new Date(at + SECOND_MS) };
      }
      if (!isKnown) unknownPushes.take(push, at);
      if (tenant !== null) budgets.take(tenant, cost, at);
      for (const { name } of queues) inFlight.set(name, (inFlight.get(name) ?? 0) + 1);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        for (const { name } of queues) {
          const left = (inFlight.get(name) ?? 1) - 1;
          if (left === 0) inFlight.delete(name);
          else inFlight.set(name, left);
        }
      };
      const makeKnown = (pushCost: PushCost | null) => {
        const provedAt = now();
        knownUntil.set(pair, provedAt + KNOWN_FOR_MS);
        if (pushCost === null) return;
        tenants.set(integrationId, pushCost.tenant);
        budgets.take(pushCost.tenant, pushCost.extraCostBytes + (tenant === null ? cost : 0), provedAt);
      };
      return { kind: 'admitted', isKnown, environment: tenant?.environment ?? null, makeKnown, release };
    },
  };
}

type BytesWait = NonNullable<ReturnType<UnknownPushes['waitFor']>>;

function refuseBytes(wait: BytesWait | null, at: number): LimitedPush | null {
  return wait === null ? null : refusalOf(wait, at);
}

function refusalOf({ waitMs, bytesPerSecond: limit }: BytesWait, at: number): LimitedPush {
  const endsAt = at + waitMs;
  return { kind: 'limited', limit, retryAfterSeconds: retryAfterSeconds(endsAt, at), resetAt: new Date(endsAt) };
}

/** Counts one request. Returns null within the limit. */
function count(windows: LRUCache<string, RateWindow>, subject: string, limit: number, at: number): LimitedPush | null {
  const window = countRequests(windows.get(subject), at, 1);
  windows.set(subject, window);
  if (remainingAt(window.requests, limit) >= 0) return null;
  const endsAt = window.startedAt + WINDOW_MS;
  return { kind: 'limited', limit, retryAfterSeconds: retryAfterSeconds(endsAt, at), resetAt: new Date(endsAt) };
}
