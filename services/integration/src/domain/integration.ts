/**
 * An integration: how one program exchanges outcomes in one environment, and the rules for its
 * changes (docs/contract/partner-api.md).
 *
 * draft      being set up; no outcome arrives through it. Every integration begins here.
 * active     its pushes are settled, or its polls are due.
 * suspended  switched off by the partner.
 *
 * A partner may change any status to any other. An active integration always has what it needs: a
 * push_webhook its signing secret, a pull_poll its URL.
 */

import { type Refused, refused } from '@laurel/errors';
import { lastOf, later } from '@laurel/values/instant';
import { MAX_POLL_INTERVAL_SECONDS, MIN_POLL_INTERVAL_SECONDS } from '@laurel/values/limits';
import type { Tenant } from '@laurel/values/tenant';

/** The partner pushes to Laurel, Laurel polls the partner, or the partner calls `/v1` itself. */
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
  /** Whether a secret authenticates the requests of polls. */
  readonly hasPullSecret: boolean;
  /** The origin of `pull.url`; null without one. */
  readonly pullOrigin: string | null;
  /** Null unless the transport is pull_poll. */
  readonly pullIntervalSeconds: number | null;
  readonly lastPolledAt: Date | null;
  /** Null unless polls are due: only an active pull_poll integration is polled. */
  readonly nextPollAt: Date | null;
  readonly consecutiveFailures: number;
  readonly lastPollError: string | null;
  readonly createdAt: Date;
};

/** The fields that a partner may change; absent fields stay unchanged. */
export type IntegrationChange = {
  readonly status: IntegrationStatus | undefined;
  readonly pullIntervalSeconds: number | undefined;
  /** The text to store, and the origin of its `pull.url`. */
  readonly descriptor: { readonly text: string; readonly pullOrigin: string | null } | undefined;
};

export const MAX_INTEGRATIONS = 100;
const DEFAULT_INTERVAL_SECONDS = 60;
const SECOND_MS = 1_000;

/** Whether the tenant may add another integration. */
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

/** Returns the integration after the change. */
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

/**
 * Checks what an active integration needs. Every change that leaves the integration active is
 * checked, even one that does not touch the status.
 */
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

/**
 * The next poll is due one interval after the last poll began, even if the integration was off in
 * between. So switching it off and on causes no more polls.
 */
function nextPollOf(before: Integration, { transport, status, pullIntervalSeconds }: Integration, now: Date) {
  if (transport !== 'pull_poll' || status !== 'active' || pullIntervalSeconds === null) return null;
  if (before.nextPollAt !== null && before.pullIntervalSeconds === pullIntervalSeconds) return before.nextPollAt;
  if (before.lastPolledAt === null) return now;
  return lastOf(now, later(before.lastPolledAt, pullIntervalSeconds * SECOND_MS));
}
