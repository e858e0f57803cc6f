/** What became of an attempt, in words. */
import type { AttemptLine, DescribedAttempt } from '../api/api-types.ts';
import { capitalised, formatScore, money } from '../kit/format.ts';
import type { Tone } from '../kit/status.tsx';

export interface Verdict {
  readonly text: string;
  readonly tone: Tone;
}

const PAYOUTS = {
  paid: { words: 'paid', tone: 'good' },
  held: { words: 'held for review', tone: 'warn' },
  denied: { words: 'denied', tone: 'bad' },
} as const;

/** "won $20.00, paid": for a row of the list. */
export function verdictOf(attempt: AttemptLine): Verdict {
  const { status, award, met_threshold: isMet } = attempt;
  if (status === 'open') return { text: 'open', tone: 'info' };
  if (status !== 'settled') return { text: status, tone: status === 'voided' ? 'bad' : 'neutral' };
  if (award !== null) {
    const { words, tone } = PAYOUTS[award.payout_status];
    return { text: `won ${money(award.amount)}, ${words}`, tone };
  }
  if (attempt.tournament_round_id !== null) return { text: 'scored', tone: 'neutral' };
  return isMet === true ? { text: 'cleared the bar', tone: 'good' } : { text: 'not won', tone: 'neutral' };
}

/** "Won $20.00, paid" or "Fee returned: expired": the first words of an attempt's page. */
export function headlineOf(attempt: DescribedAttempt): Verdict {
  const { status, outcome, score } = attempt;
  const { tone, text } = verdictOf(attempt);
  if (status === 'open') return { text: 'Open: waits for its outcome', tone };
  if (status !== 'settled') return { text: endOf(attempt), tone };
  if (attempt.award !== null || outcome === null || score === null) return { text: capitalised(text), tone };
  const scored = formatScore(score);
  if (attempt.tournament_round_id !== null) return { text: `Scored ${scored}: the round pays by rank`, tone };
  if (outcome.threshold_applied === null) return { text: `Scored ${scored}, without a bar: nothing is paid`, tone };
  const bar = formatScore(outcome.threshold_applied);
  return outcome.met_threshold
    ? { text: `Cleared the bar of ${bar} with ${scored}, without an award`, tone }
    : { text: `Not won: ${scored}, and the bar is ${bar}`, tone };
}

function endOf({ status, fee, timeline }: DescribedAttempt): string {
  const cause = reasonWords(timeline.find(({ kind }) => kind === 'expired' || kind === 'voided')?.reason) ?? status;
  if (timeline.some(({ kind }) => kind === 'fee_refunded')) return `Fee returned: ${cause}`;
  return Number(fee) === 0
    ? `${capitalised(cause)}: nothing was charged`
    : `${capitalised(cause)}: the fee is returned`;
}

/** Leaves out an operator's reason for a void, which may be long; the history shows it. */
function reasonWords(reason: string | undefined): string | undefined {
  if (reason === 'round_closed') return 'the round closed';
  return reason === 'round_cancelled' ? 'the round was cancelled' : undefined;
}
