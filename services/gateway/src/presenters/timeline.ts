/**
 * What happened to an attempt, oldest first, with the sends of its events and, for operators, the
 * deposits that compensate for it.
 */

import type { AttemptFact, DescribeAttemptResponse } from '@laurel/proto/attempts';
import { ATTEMPT_FACTS, nameOf } from '@laurel/proto/enum-names';
import type { Goodwill } from '@laurel/proto/wallet';
import type { EndpointDelivery } from '@laurel/proto/webhook';
import { millisecondsOf } from '@laurel/values/instant';
import { formatAmount } from '@laurel/values/money';

interface Entry {
  readonly at: string | null;
  readonly kind: string;
}

/** An entry, and the time by which it is ordered. */
interface TimedEntry {
  readonly time: number;
  readonly entry: Entry;
}

/**
 * The facts stay in the given order, in which they happened: their times may disagree, because they
 * come from the clocks of two databases. A fact whose time is not stored comes right after its
 * predecessor.
 */
export function timelineOf(
  { attempt, facts }: Pick<DescribeAttemptResponse, 'attempt' | 'facts'>,
  deliveries: readonly EndpointDelivery[],
  goodwill: readonly Goodwill[],
): readonly Entry[] {
  let time = 0;
  const timed = facts.map((fact): TimedEntry => {
    time = fact.at === undefined ? time : Math.max(time, millisecondsOf(fact.at));
    return { time, entry: presentFact(fact, attempt) };
  });
  return [...timed, ...deliveries.flatMap(sendsOf), ...goodwill.map(depositOf)]
    .sort((a, b) => a.time - b.time)
    .map(({ entry }) => entry);
}

function presentFact(
  { kind, at, amountCents, reason }: AttemptFact,
  attempt: DescribeAttemptResponse['attempt'],
): Entry {
  const name = nameOf(ATTEMPT_FACTS, kind);
  return {
    at: at?.toISOString() ?? null,
    kind: name,
    ...(amountCents === undefined ? {} : { amount: formatAmount(amountCents) }),
    ...(reason === '' ? {} : { reason }),
    ...(name === 'settled' && attempt?.outcome !== undefined ? scoreOf(attempt.outcome) : {}),
  };
}

function scoreOf(outcome: { score: number; metThreshold: boolean; thresholdApplied?: number | undefined }) {
  const { score, metThreshold, thresholdApplied } = outcome;
  return { score, met_threshold: metThreshold, threshold_applied: thresholdApplied ?? null };
}

function sendsOf({ endpointId, delivery }: EndpointDelivery): readonly TimedEntry[] {
  return (delivery?.attempts ?? []).map(({ number, startedAt, httpStatus, errorKind }) => ({
    time: startedAt?.getTime() ?? 0,
    entry: {
      at: startedAt?.toISOString() ?? null,
      kind: 'webhook_sent',
      delivery_id: delivery?.id,
      endpoint_id: endpointId,
      number,
      http_status: httpStatus ?? null,
      error_kind: errorKind ?? null,
    },
  }));
}

function depositOf({ amountCents, reference, createdAt }: Goodwill): TimedEntry {
  const at = createdAt?.toISOString() ?? null;
  const entry = { at, kind: 'goodwill_deposited', amount: formatAmount(amountCents), reference };
  return { time: createdAt?.getTime() ?? 0, entry };
}
