/** What an answer of the sandbox means, and what to do about a refusal, in words. */
import type { Attempt, Outcome, Round } from '../../api/api-types.ts';
import type { Failure } from '../../api/failure.ts';
import { formatCount, formatScore, money } from '../../kit/format.ts';
import type { SandboxCall } from './calls.ts';

/** `answer` is the body of the accepted call. */
export function answerInWords(call: SandboxCall, answer: unknown): string {
  switch (call.kind) {
    case 'put-player':
      return playerInWords(call.body);
    case 'hold-next-award':
      return `The next award or purse of ${call.playerRef} will be held, until an operator decides on it.`;
    case 'create-attempt':
      return attemptInWords(answer as Attempt);
    case 'report-outcome':
      return outcomeInWords(answer as Outcome);
    case 'expire-attempt':
      return `The attempt has expired. Its fee of ${money((answer as Attempt).fee_charged)} is returned.`;
    case 'close-entries':
      return 'The round accepts no more entries. Open attempts can still report their scores.';
    case 'close-round':
      return roundInWords(answer as Round);
    case 'retry-delivery':
      return 'The next send of the delivery is due now. It counts as one of the two retries.';
  }
}

function playerInWords(body: Extract<SandboxCall, { kind: 'put-player' }>['body']): string {
  const { self_excluded_until: excluded, under_investigation: investigated } = body;
  return [
    `${body.player_ref} is linked.`,
    body.funds !== undefined && `${money(body.funds)} of play money was added.`,
    typeof excluded === 'string' && 'The player is self-excluded and may not play.',
    excluded === null && 'The self-exclusion has ended.',
    investigated === true && 'The player is under investigation: every award is held.',
    investigated === false && 'The player is not under investigation.',
  ]
    .filter((text) => typeof text === 'string')
    .join(' ');
}

function attemptInWords({ fee_charged: fee }: Attempt): string {
  if (fee === '0.00') return 'The attempt is open, and free. Report its score within an hour.';
  return `The attempt is open, and ${money(fee)} was charged. Report its score within an hour.`;
}

function outcomeInWords({ score, met_threshold: met, threshold_applied: bar, award }: Outcome): string {
  if (bar === null && award === null) return `The score ${formatScore(score)} is recorded. There is no bar to clear.`;
  const at = bar === null ? '' : ` of ${formatScore(bar)}`;
  if (!met) return `The score ${formatScore(score)} did not clear the bar${at}: no award.`;
  if (award === null) return `The score ${formatScore(score)} cleared the bar${at}.`;
  const paid = award.payout_status === 'paid' ? 'is paid' : 'is held for review: no money has moved';
  return `The score ${formatScore(score)} cleared the bar${at}. The award of ${money(award.amount)} ${paid}.`;
}

function roundInWords({ status, entrant_count: entrants }: Round): string {
  const who = `${formatCount(entrants)} ${entrants === 1 ? 'player' : 'players'}`;
  if (status === 'cancelled') return `The round is cancelled. It had ${who}, and every fee is returned.`;
  return `The round is ${status}, with ${who} in its standings.`;
}

type Code = Extract<Failure, { kind: 'refused' }>['code'];

const ADVICE: Partial<Record<Code, string>> = {
  insufficient_funds:
    'The player cannot pay the fee; nothing was charged. Fund the player under "Player", then pay again.',
  blocked:
    'The player may not play for money; nothing was charged. End the self-exclusion under "Player", or take another player.',
  insider_entry: "The account belongs to the program's own people. Take another player.",
  not_found:
    'Laurel does not know one of the ids. Save the player first, and check the id: it has to belong to this program in test.',
  challenge_not_available:
    'The challenge is suspended or closed, or its prize is above the ceiling of its tier. Choose another one.',
  challenge_already_claimed:
    'The player has had the prize of this challenge. Take another player or another challenge.',
  rung_locked: 'The player has to claim the challenge below this rung first.',
  attempt_cap_reached: 'The player has used up the attempts of this challenge or round. Take another player.',
  entries_closed: 'The round takes no entries any more. Choose a round that is open.',
  round_closed: 'The round takes no scores any more. The attempt expires, and its fee is returned.',
  attempt_already_settled: 'The attempt is over: it was settled, or it has expired. Pay for another one.',
  score_out_of_range: 'The score is outside the plausible window of the challenge.',
  tiebreak_required: 'The tournament needs a tiebreak beside the score. The attempt is still open.',
};

const CONFLICTS: Partial<Record<SandboxCall['kind'], string>> = {
  'put-player': 'Another player has the e-mail.',
  'close-entries': 'The round is not open. Choose another one.',
  'close-round': 'The round is not open: it may be over already. Choose another one.',
  'retry-delivery': 'No retry is scheduled: the delivery has arrived, or both retries are used up.',
};

/**
 * Returns what to do if the code says it; otherwise undefined, and Laurel's own message is shown.
 */
export function adviceFor(call: SandboxCall, failure: Failure): string | undefined {
  if (failure.kind === 'unreachable') {
    return 'The call may have had its effect: look at the attempts before you repeat it.';
  }
  if (failure.kind !== 'refused') return undefined;
  return failure.code === 'conflict' ? CONFLICTS[call.kind] : ADVICE[failure.code];
}
