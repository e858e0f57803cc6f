/**
 * Attempts and outcomes, of challenges and of tournament rounds, as JSON text
 * (docs/contract/partner-api.md, "Attempt" and "Outcome").
 */

import { textAt } from '@laurel/json';
import type { Attempt, Award, DescribeAttemptResponse, ListedAttempt, Outcome } from '@laurel/proto/attempts';
import { ATTEMPT_STATUSES, AWARD_STATUSES, ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { Goodwill, Payout } from '@laurel/proto/wallet';
import type { EndpointDelivery } from '@laurel/proto/webhook';
import { contestServiceOf } from '@laurel/values/ids';
import { formatAmount } from '@laurel/values/money';
import { presentPayout } from './payout.ts';
import { timelineOf } from './timeline.ts';
import { timestamp } from './timestamp.ts';
import { presentDelivery } from './webhook.ts';

/** The attempt as JSON text: `metadata` is spliced in as the exact text that the partner sent. */
export function presentAttempt(attempt: Attempt): string {
  const { outcome } = attempt;
  const beforeMetadata = JSON.stringify({
    id: attempt.id,
    ...parentOf(attempt),
    player_ref: attempt.playerRef,
    status: nameOf(ATTEMPT_STATUSES, attempt.status),
    fee_charged: formatAmount(attempt.feeCents),
    created_at: timestamp(attempt.createdAt),
  });
  const outcomeText = outcome === undefined ? 'null' : JSON.stringify(outcomeFields(outcome, awardFields));
  return `${beforeMetadata.slice(0, -1)},"metadata":${attempt.metadataJson},"outcome":${outcomeText}}`;
}

/**
 * An attempt in a list that a developer reads. For operators, `presentOperatorListedAttempt` adds
 * further members.
 */
export function presentListedAttempt({ attempt: listed, isAwardDenied }: ListedAttempt) {
  const attempt = defined(listed);
  const { outcome } = attempt;
  return {
    id: attempt.id,
    ...parentOf(attempt),
    player_ref: attempt.playerRef,
    status: nameOf(ATTEMPT_STATUSES, attempt.status),
    fee: formatAmount(attempt.feeCents),
    created_at: timestamp(attempt.createdAt),
    score: outcome?.score ?? null,
    met_threshold: outcome?.metThreshold ?? null,
    award: outcome?.award === undefined ? null : presentListedAward(outcome.award, isAwardDenied),
  };
}

/** Only developers are shown that an award was denied: to partners it stays held. */
function presentListedAward({ id, amountCents, status }: Award, isDenied: boolean) {
  const payout_status = isDenied ? ('denied' as const) : nameOf(AWARD_STATUSES, status);
  return { id, amount: formatAmount(amountCents), payout_status };
}

/** An attempt in a list that an operator reads. */
export function presentOperatorListedAttempt(listed: ListedAttempt) {
  return { ...presentListedAttempt(listed), ...ownersOf(listed) };
}

function ownersOf({ tenant, accountId }: Pick<ListedAttempt, 'tenant' | 'accountId'>) {
  const { programId, environment } = defined(tenant);
  return { program_id: programId, environment: nameOf(ENVIRONMENTS, environment), account_id: accountId || null };
}

/**
 * One attempt as JSON text, with its history and the deliveries of its events. Only operators are
 * shown goodwill.
 */
export function presentDescribedAttempt(
  described: DescribeAttemptResponse,
  deliveries: readonly EndpointDelivery[],
  goodwill: readonly Goodwill[] = [],
): string {
  const attempt = defined(described.attempt);
  const { outcome } = attempt;
  const line = JSON.stringify(presentListedAttempt(described));
  const rest = JSON.stringify({
    outcome: outcome === undefined ? null : outcomeFields(outcome, awardFields),
    timeline: timelineOf(described, deliveries, goodwill),
    deliveries: deliveries.map(({ endpointId, delivery }) => ({
      ...presentDelivery(defined(delivery)),
      endpoint_id: endpointId,
    })),
  });
  return `${line.slice(0, -1)},"metadata":${attempt.metadataJson},${rest.slice(1)}`;
}

/**
 * One attempt as JSON text for operators, who also see whose it is, the evidence and the payout.
 * `receiptJson` and `payout` are null if there is none.
 */
export function presentOperatorAttempt({
  described,
  deliveries,
  receiptJson,
  payout,
  goodwill,
}: {
  readonly described: DescribeAttemptResponse;
  readonly deliveries: readonly EndpointDelivery[];
  readonly receiptJson: string | null;
  readonly payout: Payout | null;
  readonly goodwill: readonly Goodwill[];
}): string {
  const rest = JSON.stringify({
    ...ownersOf(described),
    payout: payout === null ? null : presentPayout(payout),
  });
  const evidence = receiptJson === null ? 'null' : evidenceOf(receiptJson);
  const shared = presentDescribedAttempt(described, deliveries, goodwill);
  return `${shared.slice(0, -1)},"evidence":${evidence},${rest.slice(1)}`;
}

/** The evidence of a receipt, as the text that the partner sent. */
function evidenceOf(receiptJson: string): string {
  const sent = textAt(receiptJson, ['evidence_text']);
  return sent === undefined ? (textAt(receiptJson, ['evidence']) ?? 'null') : String(JSON.parse(sent));
}

function parentOf({ id, contestId }: Attempt) {
  return contestServiceOf(id) === 'challenge'
    ? { challenge_id: contestId, tournament_round_id: null }
    : { challenge_id: null, tournament_round_id: contestId };
}

/** The outcome as JSON text. Its award has a `payout_status`; an award in an attempt has none. */
export function presentOutcome(outcome: Outcome): string {
  return JSON.stringify(
    outcomeFields(outcome, (award) => ({
      ...awardFields(award),
      payout_status: nameOf(AWARD_STATUSES, award.status),
    })),
  );
}

function outcomeFields(outcome: Outcome, presentAward: (award: Award) => object) {
  const { metThreshold, thresholdApplied, award } = outcome;
  return {
    attempt_id: outcome.attemptId,
    score: outcome.score,
    met_threshold: metThreshold,
    threshold_applied: thresholdApplied ?? null,
    recorded_at: timestamp(outcome.recordedAt),
    receipt_id: outcome.receiptId,
    award: award === undefined ? null : presentAward(award),
  };
}

function awardFields(award: Award) {
  return {
    id: award.id,
    amount: formatAmount(award.amountCents),
    paid_at: award.paidAt === undefined ? null : timestamp(award.paidAt),
  };
}

function defined<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a service left out a part of an attempt or of a delivery');
  return value;
}
