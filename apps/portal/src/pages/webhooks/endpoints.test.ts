import { expect, test } from 'vitest';
import type { WebhookEndpoint, WebhookEndpointStats } from '../../api/api-types.ts';
import { coversProgram, formatRate, healthOf, scopeOf } from './endpoints.ts';

const endpoint = (program: string | null, environment: 'test' | 'live' | null) =>
  ({ program_id: program, environment }) as WebhookEndpoint;

test.each([
  [endpoint(null, null), true, 'Every program, test and live'],
  [endpoint('p', null), true, 'This program, test and live'],
  [endpoint('p', 'test'), true, 'This program, test'],
  [endpoint('p', 'live'), false, 'This program, live'],
  [endpoint(null, 'live'), false, 'Every program, live'],
  [endpoint('other', 'test'), false, 'This program, test'],
])('an endpoint is listed for each program and environment whose events it may receive', (one, isListed, scope) => {
  expect([coversProgram(one, 'p', 'test'), scopeOf(one)]).toEqual([isListed, scope]);
});

test.each([
  [0, 0, 0, null, 'neutral', 'nothing sent'],
  [0, 0, 3, null, 'info', '3 pending'],
  [1_200, 0, 0, 1, 'good', '100 % of 1,200'],
  [99, 1, 2, 0.99, 'good', '99.0 % of 100, 2 pending'],
  [9, 1, 0, 0.9, 'warn', '90.0 % of 10'],
  [0, 4, 0, 0, 'bad', '0.0 % of 4'],
])(
  'the health of an endpoint with %d delivered, %d failed and %d pending deliveries is shown in words',
  (delivered, failed, pending, rate, tone, text) => {
    const stats = { delivered, failed, pending, success_rate: rate } as WebhookEndpointStats;
    expect(healthOf(stats)).toEqual({ tone, text });
  },
);

test('a success rate with at least one failure is never shown as 100 %', () => {
  expect(formatRate(49_999 / 50_000)).toBe('99.9 %');
});
