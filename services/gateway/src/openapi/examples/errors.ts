/** What refusals look like. */
import { type ApiErrorCode, DEFAULT_MESSAGE } from '@laurel/errors';
import type { Examples } from './example.ts';

/**
 * The message and the details of a validation failure, where a response has them: for a route with
 * a body, and for one with a query.
 */
const INVALID = {
  body: { message: 'The body is not valid.', details: { issues: [{ field: 'player_ref', message: 'is missing' }] } },
  query: { message: 'The query is not valid.', details: { issues: [{ field: 'player_ref', message: 'is missing' }] } },
  outcome: { message: 'The body is not valid.', details: { issues: [{ field: 'score', message: 'is missing' }] } },
  status: {
    message: 'The query is not valid.',
    details: { issues: [{ field: 'status', message: 'must be `all`, or absent' }] },
  },
  transport: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'transport', message: 'is missing' }] },
  },
  interval: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'pull_interval_seconds', message: 'must be at least 30' }] },
  },
  distribution: {
    message: 'The body is not valid.',
    details: { issues: [{ field: 'sample_size', message: 'must be at least 500' }] },
  },
  plainQuery: { message: 'The query is not valid.' },
};
const INVALID_OF_ROUTE: Readonly<Record<string, object>> = {
  createIntegration: INVALID.transport,
  updateIntegration: INVALID.interval,
  rotateIntegrationSecret: { message: 'The integration is not a push_webhook.' },
  pushOutcome: { message: 'The body is not valid JSON.' },
  listChallenges: INVALID.query,
  seedDistribution: INVALID.distribution,
  listTournaments: INVALID.status,
  getLeaderboard: INVALID.plainQuery,
  reportOutcome: INVALID.outcome,
  linkPlayer: INVALID.body,
  createAttempt: INVALID.body,
};

/** One response for each code that a status may carry. */
export function errorExamples(routeName: string, codes: readonly ApiErrorCode[]): Examples {
  return errorExamplesOf(codes, { invalid_request: INVALID_OF_ROUTE[routeName] });
}

/**
 * `said` has the members that a response has in addition to its code; a `message` among them
 * replaces the code's default message.
 */
export function errorExamplesOf<Code extends ApiErrorCode>(
  codes: readonly Code[],
  said: Partial<Record<ApiErrorCode, object | undefined>>,
): Examples {
  return Object.fromEntries(
    codes.map((code) => [
      code,
      { summary: code, value: { error: { code, message: DEFAULT_MESSAGE[code], ...said[code] } } },
    ]),
  );
}

export const RATE_LIMIT_EXAMPLES: Examples = {
  limited: {
    summary: 'The minute is used up',
    value: { error: 'Too many requests.', retry_after: 17, limit: 300, reset_at: '2026-11-21T12:05:00.000Z' },
  },
};
