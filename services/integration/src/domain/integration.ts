/**
 * An integration: how one program exchanges outcomes in one environment, and the rules for its changes (docs/contract/partner-api.md).
 *
 * draft      set up; nothing arrives through it. Every integration begins here.
 * active     its pushes are settled, its polls are due.
 * suspended  switched off by the partner.
 *
 * A partner may go from any status to any other. An active one always has what it needs: a push its signing secret, a poll its URL.
 */

import { type Refused, refused } from '@laurel/errors';
import { lastOf, later } from '@laurel/instant';
import { MAX_POLL_INTERVAL_SECONDS, MIN_POLL_INTERVAL_SECONDS } from '@laurel/limits';
import type { Tenant } from '@laurel/tenant';

/** Partners push to us, we poll them, or they call `/v1` themselves. */
export type Transport = 'push_webhook' | 'pull_poll' | 'sdk_direct';

export type IntegrationStatus = 'draft' | 'active' | 'suspended';

export type Integration = {
  readonly id: string;
  readonly tenant: Tenant;
  readonly transport: Transport;
  readonly status: IntegrationStatus;
  /** A JSON object as text, without the secret value of `pull.auth`. */
  readonly descriptor: string;
  readonly hasSigningSecret: boolean;
  /** Whether requests of a poll are authenticated. */
  readonly hasPullSecret: boolean;
  /** Of `pull.url`; null without one. */
  readonly pullOrigin: string | null;
  /** For pull_poll alone. */
  readonly pullIntervalSeconds: number | null;
  readonly lastPolledAt: Date | null;
  /** Null unless polls are due: those of an active pull_poll. */
  readonly nextPollAt: Date | null;
  readonly consecutiveFailures: number;
  readonly lastPollError: string | null;
  readonly createdAt: Date;
};

/** The fields that a partner may change; absent ones stay. */
export type IntegrationChange = {
  readonly status: IntegrationStatus | undefined;
  readonly pullIntervalSeconds: number | undefined;
  /** The text to store, and the origin of its `pull.url`. */
  readonly descriptor: { readonly text: string; readonly pullOrigin: string | null } | undefined;
};

export const MAX_INTEGRATIONS = 100;
const DEFAULT_INTERVAL_SECONDS = 60;
const SECOND_MS = 1_000;

/** Whether the tenant may have one more integration. */
export function decideIntegrationLimit(integrationCount: number): Refused | null {
  if (integrationCount < MAX_INTEGRATIONS) return null;
  return refused('conflict', `A program has at most ${MAX_INTEGRATIONS} integrations in an environment.`);
}

/** The interval of a new integration. */
export function decideFirstInterval(transport: Transport, sent: number | undefined): number | null | Refused {
  const checked = checkInterval(transport, sent);
  if (checked !== null) return checked;
  return sent ?? (transport === 'pull_poll' ? DEFAULT_INTERVAL_SECONDS : null);
}

/** The integration as the change leaves it. */
export function decideChange(integration: Integration, change: IntegrationChange, now: Date): Integration | Refused {
  const wrong = checkInterval(integration.transport, change.pullIntervalSeconds);
  if (wrong !== null) return wrong;
  const { descriptor } = change;
  const changed: Integration = {
    ...integration,
    status: change.status ?? integration.status,
    descriptor: descriptor?.text ?? integration.descriptor,
    pullOrigin: descriptor === undefined ? integration.pullOrigin : descriptor.pullOrigin,
    pullIntervalSeconds: change.pullIntervalSeconds ?? integration.pullIntervalSeconds,
  };
  return checkActivation(changed) ?? { ...changed, nextPollAt: nextPollOf(integration, changed, now) };
}

/** Only signed pushes have a secret to rotate. */
export function decideRotation({ transport }: Pick<Integration, 'transport'>): Refused | null {
  return transport === 'push_webhook' ? null : refused('invalid_request', 'Only a push_webhook has a signing secret.');
}

function checkInterval(transport: Transport, sent: number | undefined): Refused | null {
  if (sent === undefined) return null;
  if (transport !== 'pull_poll') return refused('invalid_request', 'pull_interval_seconds is for pull_poll alone.');
  if (!Number.isInteger(sent) || sent < MIN_POLL_INTERVAL_SECONDS) {
    const least = `pull_interval_seconds must be a whole number of at least ${MIN_POLL_INTERVAL_SECONDS}.`;
    return refused('invalid_request', least);
  }
  if (sent <= MAX_POLL_INTERVAL_SECONDS) return null;
  return refused('invalid_request', `pull_interval_seconds must be at most ${MAX_POLL_INTERVAL_SECONDS}.`);
}

/** Also of a change that leaves an active integration active. */
function checkActivation({ status, transport, hasSigningSecret, pullOrigin }: Integration): Refused | null {
  if (status !== 'active') return null;
  if (transport === 'push_webhook' && !hasSigningSecret) {
    return refused('invalid_request', 'A push_webhook without a signing secret cannot be active.');
  }
  if (transport === 'pull_poll' && pullOrigin === null) {
    return refused('invalid_request', 'A pull_poll whose descriptor has no pull.url cannot be active.');
  }
  return null;
}

/** An interval after the last poll began, also when the integration was off in between: switching it off and on polls no more often. */
function nextPollOf(before: Integration, { transport, status, pullIntervalSeconds }: Integration, now: Date) {
  if (transport !== 'pull_poll' || status !== 'active' || pullIntervalSeconds === null) return null;
  if (before.nextPollAt !== null && before.pullIntervalSeconds === pullIntervalSeconds) return before.nextPollAt;
  if (before.lastPolledAt === null) return now;
  return lastOf(now, later(before.lastPolledAt, pullIntervalSeconds * SECOND_MS));
}
