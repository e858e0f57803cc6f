/** Which events an endpoint gets, and how its deliveries ended, in words. */
import type { Environment, WebhookEndpoint, WebhookEndpointStats } from '../../api/api-types.ts';
import { formatCount, formatShare } from '../../kit/format.ts';
import type { Tone } from '../../kit/status.tsx';

/** Whether the endpoint may get events of this program and environment. */
export function coversProgram(endpoint: WebhookEndpoint, programId: string, environment: Environment): boolean {
  const { program_id: program, environment: only } = endpoint;
  return (program === null || program === programId) && (only === null || only === environment);
}

/** The programs and environments whose events the endpoint gets: "This program, test". */
export function scopeOf({ program_id: program, environment }: WebhookEndpoint): string {
  return `${program === null ? 'Every program' : 'This program'}, ${environment ?? 'test and live'}`;
}

export function eventsOf({ events }: WebhookEndpoint): string {
  return events.length === 0 ? 'Every event' : events.join(', ');
}

interface Health {
  readonly tone: Tone;
  readonly text: string;
}

const GOOD_RATE = 0.99;
const FAIR_RATE = 0.9;

/** "98.5 % of 1,200", with what is still pending. */
export function healthOf({ delivered, failed, pending, success_rate: rate }: WebhookEndpointStats): Health {
  const waiting = pending === 0 ? '' : `${formatCount(pending)} pending`;
  if (rate === null)
    return waiting === '' ? { tone: 'neutral', text: 'nothing sent' } : { tone: 'info', text: waiting };
  const text = `${formatRate(rate)} of ${formatCount(delivered + failed)}${waiting && `, ${waiting}`}`;
  return { tone: rate >= GOOD_RATE ? 'good' : rate >= FAIR_RATE ? 'warn' : 'bad', text };
}

/** Shows 100 % only if no delivery has failed. */
export function formatRate(rate: number): string {
  return rate === 1 ? '100 %' : formatShare(Math.min(rate, 0.999));
}
