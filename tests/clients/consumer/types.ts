// A partner's code, compiled against the package's declarations: what must compile, and what must
// not.
import {
  type Attempt,
  type AttemptRequest,
  Laurel,
  LaurelError,
  type LaurelErrorCode,
  type LaurelOptions,
  toCents,
} from '@laurel/sdk';

export const options: LaurelOptions = {
  apiKey: 'sk_test_',
  baseUrl: 'https://api.example.com',
  fetch: globalThis.fetch,
};
const laurel = new Laurel(options);

export async function play(challengeId: string): Promise<bigint> {
  const attempt: Attempt = await laurel.attempts.create(
    { challenge_id: challengeId, player_ref: 'p', metadata: undefined },
    { idempotencyKey: 'k', signal: AbortSignal.timeout(1_000) },
  );
  const { data, replayed, tries, rateLimit } = await laurel.attempts
    .reportOutcome(attempt.id, { score: 1 })
    .withResponse();
  const facts: [boolean, number, number | undefined] = [replayed, tries, rateLimit?.remaining];
  return facts.length > 0 && data.award?.payout_status === 'paid' ? toCents(data.award.amount) : 0n;
}

export async function board(roundId: string): Promise<number> {
  const found = await laurel.rounds.leaderboard(roundId, { player_ref: 'p' });
  return 'data' in found ? found.data.length : found.entrant_count;
}

/** Enumerations are open: today's values are known, and others need a default. */
export function label(status: Attempt['status']): string {
  switch (status) {
    case 'open':
      return 'playing';
    default:
      return status satisfies string;
  }
}
export const later: Attempt['status'] = 'a status of next year';

/** The codes of failures are a closed set. */
export function codeOf(error: unknown): LaurelErrorCode | undefined {
  return error instanceof LaurelError ? error.code : undefined;
}
// @ts-expect-error: no such code
export const unlistedCode: LaurelErrorCode = 'no_such_code';

// @ts-expect-error: a call that charges needs a key
export const withoutKey = () => laurel.attempts.create({ challenge_id: 'c', player_ref: 'p' });
// @ts-expect-error: a challenge or a round, not both
export const both: AttemptRequest = { challenge_id: 'c', tournament_round_id: 'r', player_ref: 'p' };
// @ts-expect-error: a challenge or a round
export const neither: AttemptRequest = { player_ref: 'p' };
// @ts-expect-error: the types of requests are closed, so that a typing error shows
export const typo = () => laurel.integrations.update('i', { status: 'activ' });
// @ts-expect-error: Laurel decides what won
export const win = () => laurel.attempts.reportOutcome('a', { score: 1, won: true });
