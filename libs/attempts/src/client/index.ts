/**
 * Clients of the challenge and the tournament service, for a service that calls both. The tag in an
 * id names the service to call.
 */
export { type ChallengeClient, connectChallenge } from './challenge.ts';
export {
  createHotCalls,
  type HotCalls,
  type OpenAttemptQuery,
  type ReportedOutcome,
} from './hot-calls.ts';
export { type OwningServices, serviceOf } from './service-of.ts';
export { connectTournament, type TournamentClient } from './tournament.ts';
