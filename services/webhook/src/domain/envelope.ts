/**
 * The body of a webhook: `{ "event": type, "timestamp": when it happened, "data": {...} }`
 * (docs/contract/partner-api.md, "Delivery request"). It is composed once; every send carries and
 * signs the same bytes. Amounts are JSON numbers with two decimals, written from whole cents and
 * never through a float. A sandbox event has `"test": true` in its data.
 */
import type { WebhookEventType } from '@laurel/events/event-type';
import { type Cents, formatAmount } from '@laurel/values/money';

/** The fields of each event, in the contract's order. Ids are uuids. */
type Facts = {
  readonly 'attempt.settled': {
    readonly attemptId: string;
    readonly challengeId: string | null;
    readonly tournamentRoundId: string | null;
    readonly playerRef: string;
    readonly score: number;
    readonly metThreshold: boolean;
    readonly award: {
      readonly id: string;
      readonly amountCents: Cents;
      readonly payoutStatus: 'paid' | 'held';
    } | null;
    readonly recordedAt: Date;
  };
  readonly 'attempt.refunded': {
    readonly attemptId: string;
    readonly challengeId: string | null;
    readonly tournamentRoundId: string | null;
    readonly playerRef: string;
    readonly amountCents: Cents;
    readonly reason: 'expired' | 'round_closed' | 'round_cancelled' | 'voided';
  };
  readonly 'challenge.suspended': { readonly challengeId: string; readonly name: string };
  readonly 'round.settled': {
    readonly tournamentRoundId: string;
    readonly tournamentId: string;
    readonly rankedPlayers: number;
    readonly purseCents: Cents;
  };
  readonly 'round.cancelled': { readonly tournamentRoundId: string; readonly tournamentId: string };
  readonly 'award.released': {
    readonly awardId: string;
    readonly amountCents: Cents;
    readonly attemptId: string | null;
    readonly challengeId: string | null;
    readonly tournamentRoundId: string | null;
    readonly playerRef: string;
  };
  readonly 'webhook.test': { readonly message: string };
};

/** The type and fields of an event. */
export type Fact = { [Type in WebhookEventType]: { readonly type: Type } & Facts[Type] }[WebhookEventType];

/** A JSON value; a bigint is an amount in cents. */
type Value = string | number | boolean | null | Cents | Date | { readonly [name: string]: Value };

export function composeBody(
  fact: Fact,
  { occurredAt, isSandbox }: { readonly occurredAt: Date; readonly isSandbox: boolean },
): Buffer {
  const data = isSandbox ? { ...dataOf(fact), test: true } : dataOf(fact);
  return Buffer.from(write({ event: fact.type, timestamp: occurredAt, data }), 'utf8');
}

/**
 * The body of the portal's "send test event". Its time is now, and it belongs to no environment.
 */
export function composeTestBody(occurredAt: Date, message: string): Buffer {
  return composeBody({ type: 'webhook.test', message }, { occurredAt, isSandbox: false });
}

function dataOf(fact: Fact): { readonly [name: string]: Value } {
  switch (fact.type) {
    case 'attempt.settled':
      return {
        attempt_id: fact.attemptId,
        challenge_id: fact.challengeId,
        tournament_round_id: fact.tournamentRoundId,
        player_ref: fact.playerRef,
        score: fact.score,
        met_threshold: fact.metThreshold,
        award:
          fact.award === null ? null : presentAward(fact.award.id, fact.award.amountCents, fact.award.payoutStatus),
        recorded_at: fact.recordedAt,
      };
    case 'attempt.refunded':
      return {
        attempt_id: fact.attemptId,
        challenge_id: fact.challengeId,
        tournament_round_id: fact.tournamentRoundId,
        player_ref: fact.playerRef,
        amount: fact.amountCents,
        reason: fact.reason,
      };
    case 'challenge.suspended':
      return { challenge_id: fact.challengeId, name: fact.name };
    case 'round.settled':
      return {
        tournament_round_id: fact.tournamentRoundId,
        tournament_id: fact.tournamentId,
        ranked_players: fact.rankedPlayers,
        purse: fact.purseCents,
      };
    case 'round.cancelled':
      return { tournament_round_id: fact.tournamentRoundId, tournament_id: fact.tournamentId };
    case 'award.released':
      return {
        award: presentAward(fact.awardId, fact.amountCents, 'paid'),
        attempt_id: fact.attemptId,
        challenge_id: fact.challengeId,
        tournament_round_id: fact.tournamentRoundId,
        player_ref: fact.playerRef,
      };
    case 'webhook.test':
      return { message: fact.message };
  }
}

function presentAward(id: string, amount: Cents, payoutStatus: string): Value {
  return { id, amount, payout_status: payoutStatus };
}

function write(value: Value): string {
  if (typeof value === 'bigint') return formatAmount(value);
  if (value === null || typeof value !== 'object' || value instanceof Date) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`);
  return `{${members.join(',')}}`;
}
