/** The history of an attempt as steps that a person reads. */
import type { AttemptTimelineEntry, DescribedAttempt } from '../api/api-types.ts';
import { formatDuration, formatScore, money, words } from '../kit/format.ts';
import type { Tone } from '../kit/status.tsx';

export interface TimelineStep {
  readonly key: string;
  readonly title: string;
  readonly detail: string | null;
  readonly tone: Tone;
  /** The time is null if it is not stored, or lies ahead. */
  readonly at: string | null;
  /** The time since the step before whose time is known: "+1.2 s". */
  readonly gap: string | null;
  /** Whether the step still lies ahead. */
  readonly isAhead: boolean;
  readonly deliveryId: string | null;
}

type StepText = Pick<TimelineStep, 'title' | 'detail' | 'tone'>;

export function stepsOf(attempt: DescribedAttempt): readonly TimelineStep[] {
  const events = new Map(attempt.deliveries.map(({ id, event }) => [id, event]));
  let before: number | null = null;
  const past = attempt.timeline.map((entry, index): TimelineStep => {
    const time: number | null = entry.at === null ? null : Date.parse(entry.at);
    const gap = time === null || before === null ? null : `+${formatDuration(Math.max(0, time - before))}`;
    before = time ?? before;
    const { at, delivery_id: deliveryId = null } = entry;
    return { key: String(index), ...describe(entry, events), at, gap, isAhead: false, deliveryId };
  });
  return [...past, ...aheadOf(attempt)];
}

function describe(entry: AttemptTimelineEntry, events: ReadonlyMap<string, string>): StepText {
  const { kind, amount = '0.00', reason } = entry;
  const detail = reason === undefined ? null : words(reason);
  switch (kind) {
    case 'created':
      return { title: 'Attempt created', detail: 'POST /v1/attempts', tone: 'info' };
    case 'fee_charged':
      return { title: `Fee of ${money(amount)} charged`, detail, tone: 'neutral' };
    case 'settled':
      return { title: 'Outcome recorded', detail: scoreWords(entry), tone: entry.met_threshold ? 'good' : 'neutral' };
    case 'award_paid':
      return { title: `Award of ${money(amount)} paid`, detail, tone: 'good' };
    case 'award_held':
      return { title: `Award of ${money(amount)} held for review`, detail, tone: 'warn' };
    case 'award_released':
      return { title: `Award of ${money(amount)} released and paid`, detail, tone: 'good' };
    case 'award_denied':
      return { title: `Award of ${money(amount)} denied`, detail, tone: 'bad' };
    case 'expired':
      return { title: 'Expired without an outcome', detail, tone: 'warn' };
    case 'voided':
      return { title: 'Voided by an operator', detail: reason ?? null, tone: 'bad' };
    case 'fee_refunded':
      return { title: `Fee of ${money(amount)} returned`, detail, tone: 'neutral' };
    case 'webhook_sent':
      return describeSend(entry, events);
    case 'goodwill_deposited':
      return {
        title: `Made good with ${money(amount)}`,
        detail: entry.reference === undefined ? null : `reference ${entry.reference}`,
        tone: 'good',
      };
    default:
      return { title: words(kind), detail, tone: 'neutral' };
  }
}

function scoreWords({ score, met_threshold: isMet, threshold_applied: bar }: AttemptTimelineEntry): string | null {
  if (score === undefined) return null;
  const scored = `score ${formatScore(score)}`;
  if (bar === null || bar === undefined) return scored;
  return `${scored}, bar ${formatScore(bar)}: ${isMet ? 'cleared' : 'missed'}`;
}

function describeSend(entry: AttemptTimelineEntry, events: ReadonlyMap<string, string>): StepText {
  const { delivery_id: id = '', number = 1, http_status: status = null, error_kind: error = null } = entry;
  const isGood = status !== null && status >= 200 && status < 300 && error === null;
  const answer = status === null ? words(error ?? 'no answer yet') : `HTTP ${status}`;
  return {
    title: `Webhook ${events.get(id) ?? 'event'} sent`,
    detail: number === 1 ? answer : `${answer}, send ${number}`,
    tone: isGood ? 'good' : status === null && error === null ? 'info' : 'bad',
  };
}

function aheadOf({ status, deliveries }: DescribedAttempt): readonly TimelineStep[] {
  const ahead = { at: null, gap: null, isAhead: true, tone: 'info' } as const;
  return [
    ...(status === 'open'
      ? [
          {
            ...ahead,
            key: 'outcome',
            title: 'Waits for its outcome',
            detail: 'POST /v1/attempts/{id}/outcome',
            deliveryId: null,
          },
        ]
      : []),
    ...deliveries
      .filter((delivery) => delivery.status === 'pending')
      .map(({ id, event, next_attempt_at: at }) => {
        const title = `Webhook ${event} will be sent`;
        return { ...ahead, key: `next ${id}`, title, detail: null, at, deliveryId: id };
      }),
  ];
}
