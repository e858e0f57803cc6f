/** The parts of a send one after the other, as the chart draws them. */
import type { WebhookSend } from '../../api/api-types.ts';

export interface Span {
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
}

export interface Waterfall {
  readonly spans: readonly Span[];
  /** The time that the whole chart covers. */
  readonly totalMs: number;
}

const PHASES = [
  ['dns_ms', 'Resolve the name'],
  ['connect_ms', 'Connect with TLS'],
  ['wait_ms', 'Wait for the answer'],
  ['read_ms', 'Read the answer'],
] as const;

/** A part that the send did not reach or need has no span. */
export function waterfallOf({
  phases,
  duration_ms: durationMs,
}: Pick<WebhookSend, 'phases' | 'duration_ms'>): Waterfall {
  const spans: Span[] = [];
  let endMs = 0;
  for (const [phase, name] of PHASES) {
    const ms = phases[phase];
    if (ms === null) continue;
    spans.push({ name, startMs: endMs, ms });
    endMs += ms;
  }
  return { spans, totalMs: Math.max(endMs, durationMs ?? 0) };
}
