import { expect, test } from 'vitest';
import type { AttemptDelivery } from '../api/api-types.ts';
import { attemptOf } from './attempt.fixture.ts';
import { stepsOf } from './timeline-steps.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 10, 26, 12) + ms).toISOString();
const delivery = (fields: Partial<AttemptDelivery> = {}): AttemptDelivery => ({
  id: 'd-1',
  event: 'attempt.settled',
  status: 'delivered',
  created_at: at(0),
  next_attempt_at: null,
  attempts: [],
  endpoint_id: 'e-1',
  ...fields,
});
const sendOf = (number: number, ms: number, http_status: number | null, error_kind: string | null = null) =>
  ({
    kind: 'webhook_sent',
    at: at(ms),
    delivery_id: 'd-1',
    endpoint_id: 'e-1',
    number,
    http_status,
    error_kind,
  }) as const;

test('a timeline goes from the request to each send of a webhook, with the time between the steps', () => {
  const steps = stepsOf(
    attemptOf({
      status: 'settled',
      timeline: [
        { kind: 'created', at: at(0) },
        { kind: 'fee_charged', at: at(5), amount: '1.00' },
        { kind: 'settled', at: at(1_605), score: 60, met_threshold: true, threshold_applied: 50 },
        { kind: 'award_held', at: at(1_610), amount: '5.00' },
        sendOf(1, 1_700, 500),
        sendOf(2, 61_700, null, 'connection_refused'),
        sendOf(3, 261_700, 200),
        { kind: 'award_released', at: at(86_400_000), amount: '5.00' },
        { kind: 'goodwill_deposited', at: at(86_401_000), amount: '2.50', reference: 'ticket 7' },
      ],
      deliveries: [delivery()],
    }),
  );
  expect(steps.map(({ title, detail, tone, gap }) => [title, detail, tone, gap])).toEqual([
    ['Attempt created', 'POST /v1/attempts', 'info', null],
    ['Fee of $1.00 charged', null, 'neutral', '+5 ms'],
    ['Outcome recorded', 'score 60, bar 50: cleared', 'good', '+1.6 s'],
    ['Award of $5.00 held for review', null, 'warn', '+5 ms'],
    ['Webhook attempt.settled sent', 'HTTP 500', 'bad', '+90 ms'],
    ['Webhook attempt.settled sent', 'connection refused, send 2', 'bad', '+1 min'],
    ['Webhook attempt.settled sent', 'HTTP 200, send 3', 'good', '+3 min 20 s'],
    ['Award of $5.00 released and paid', null, 'good', '+23 h 55 min'],
    ['Made good with $2.50', 'reference ticket 7', 'good', '+1.0 s'],
  ]);
  expect(steps.map(({ deliveryId }) => deliveryId)[4]).toBe('d-1');
});

test('a step without a time is skipped when the time between steps is computed', () => {
  const timeline = [
    { kind: 'created', at: at(0) },
    { kind: 'voided', at: null, reason: 'a wrong challenge' },
    { kind: 'fee_refunded', at: at(2_000), amount: '1.00', reason: 'voided' },
  ] as const;
  const steps = stepsOf(attemptOf({ status: 'voided', timeline: [...timeline] }));
  expect(steps.map(({ gap, detail }) => [gap, detail])).toEqual([
    [null, 'POST /v1/attempts'],
    [null, 'a wrong challenge'],
    ['+2.0 s', 'voided'],
  ]);
});

test('a timeline also shows the pending outcome and the next send of a webhook', () => {
  const timeline = [{ kind: 'created', at: at(0) }] as const;
  const pending = delivery({ status: 'pending', next_attempt_at: at(60_000) });
  const steps = stepsOf(attemptOf({ timeline: [...timeline], deliveries: [delivery({ id: 'd-0' }), pending] }));
  expect(steps.map(({ title, isAhead, at: time }) => [title, isAhead, time])).toEqual([
    ['Attempt created', false, at(0)],
    ['Waits for its outcome', true, null],
    ['Webhook attempt.settled will be sent', true, at(60_000)],
  ]);
});
