/**
 * How often an integration is pushed to (`routes/push-outcome.ts`), decided before a byte of a body is read and before any secret is compared:
 * what a caller without a secret can use up is bounded, and a flood at one integration takes nothing from another one, nor from `/v1`.
 *
 * - A minute of the client's address, and then a minute of the integration, counted in this process by its own clock. A request that its
 *   address may not send does not count for the integration.
 * - So many pushes of one integration under way, its own queue: the next one would only wait.
 * - Both tables are bounded. An address that fills one with integrations that do not exist drops the oldest entries, at the rate that its own
 *   limit allows.
 */
import { LRUCache } from 'lru-cache';
import { countRequests, type RateWindow, remainingAt, retryAfterSeconds, WINDOW_MS } from '../domain/rate-window.ts';

export interface PushLimits {
  /** A push that was admitted is released when it no longer waits for an answer; more than once changes nothing. */
  admit(integrationId: string, network: string): PushAdmission;
}

export type PushAdmission =
  | { readonly kind: 'admitted'; readonly release: () => void }
  | {
      readonly kind: 'limited';
      readonly limit: number;
      readonly retryAfterSeconds: number;
      readonly resetAt: Date;
    };

const MAX_COUNTED = 10_000;
/** Two batches of the largest bodies (`clients/pushes.ts`): with more under way, a push of another integration would wait behind them. */
const MAX_IN_FLIGHT = 96;
const SECOND_MS = 1_000;

/** `now` counts milliseconds; tests advance it. */
export function createPushLimits(options: {
  readonly perIntegration: number;
  readonly perAddress: number;
  readonly maxInFlight?: number;
  readonly now?: () => number;
}): PushLimits {
  const { perIntegration, perAddress, maxInFlight = MAX_IN_FLIGHT, now = Date.now } = options;
  const ofAddresses = new LRUCache<string, RateWindow>({ max: MAX_COUNTED });
  const ofIntegrations = new LRUCache<string, RateWindow>({ max: MAX_COUNTED });
  const inFlight = new Map<string, number>();

  return {
    admit(integrationId, network) {
      const at = now();
      const limited =
        count(ofAddresses, network, perAddress, at) ?? count(ofIntegrations, integrationId, perIntegration, at);
      if (limited !== null) return limited;
      const pushes = inFlight.get(integrationId) ?? 0;
      if (pushes >= maxInFlight) {
        return { kind: 'limited', limit: maxInFlight, retryAfterSeconds: 1, resetAt: new Date(at + SECOND_MS) };
      }
      inFlight.set(integrationId, pushes + 1);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        const left = (inFlight.get(integrationId) ?? 1) - 1;
        if (left === 0) inFlight.delete(integrationId);
        else inFlight.set(integrationId, left);
      };
      return { kind: 'admitted', release };
    },
  };
}

/** Counts one request; null within the limit. */
function count(
  windows: LRUCache<string, RateWindow>,
  subject: string,
  limit: number,
  at: number,
): PushAdmission | null {
  const window = countRequests(windows.get(subject), at, 1);
  windows.set(subject, window);
  if (remainingAt(window.requests, limit) >= 0) return null;
  const endsAt = window.startedAt + WINDOW_MS;
  return { kind: 'limited', limit, retryAfterSeconds: retryAfterSeconds(endsAt, at), resetAt: new Date(endsAt) };
}
