/** `<Status value="delivered" />`: a badge in the colour of the word; unknown words are grey. */
import type { ReactNode } from 'react';
import { words } from './format.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'neutral';

const TONES: Readonly<Record<string, Tone>> = {
  approved: 'good',
  live: 'good',
  active: 'good',
  enabled: 'good',
  delivered: 'good',
  paid: 'good',
  passed: 'good',
  finalized: 'good',
  open: 'info',
  pending: 'info',
  calibrating: 'info',
  settling: 'info',
  draft: 'info',
  held: 'warn',
  paused: 'warn',
  suspended: 'bad',
  denied: 'bad',
  failed: 'bad',
  voided: 'bad',
  rejected: 'bad',
  disabled: 'bad',
};

interface StatusProps {
  /** A status of the API, as `payout_held`. */
  readonly value: string;
  /** Overrides the tone of the word. */
  readonly tone?: Tone;
}

export function Status({ value, tone = TONES[value] ?? 'neutral' }: StatusProps): ReactNode {
  return (
    <span className="status" data-tone={tone}>
      {words(value)}
    </span>
  );
}

/** `<HttpStatus value={204} />`: null reads as "no answer". */
export function HttpStatus({ value }: { readonly value: number | null }): ReactNode {
  if (value === null) return <Status value="no answer" tone="bad" />;
  return <Status value={String(value)} tone={value < 400 ? 'good' : value < 500 ? 'warn' : 'bad'} />;
}
