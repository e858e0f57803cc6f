import { randomUUID } from 'node:crypto';
import type {
  ApiPromise,
  Attempt,
  AttemptRequest,
  ChallengeList,
  DeliveryReference,
  DistributionRequest,
  DistributionResult,
  Laurel,
  Leaderboard,
  Outcome,
  OutcomeRequest,
  PlayerLink,
  Round,
  SandboxPlayerRequest,
  TournamentList,
} from '@laurel/sdk';
import type { Answer, HttpClient, SendOptions } from './http-client.ts';
import { callSdk } from './sdk-call.ts';

/** The facts of a player that the sandbox can set. */
type PlayerFacts = Omit<SandboxPlayerRequest, 'player_ref' | 'funds'>;

/** A partner's server. Its methods call the SDK and return the response as received. */
export interface Partner {
  readonly apiKey: string;
  /**
   * Sends any request with this partner's API key, but without the SDK. For requests that the SDK
   * would refuse or change.
   */
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  /** Makes any call through the SDK. */
  call<Body>(call: (laurel: Laurel) => ApiPromise<Body>): Promise<Answer<Body>>;
  listChallenges(playerRef: string, status?: 'all'): Promise<Answer<ChallengeList>>;
  seedChallenge(challengeId: string, body: DistributionRequest, key?: string): Promise<Answer<DistributionResult>>;
  linkPlayer(playerRef: string, email: string): Promise<Answer<PlayerLink>>;
  /** `key` is the `Idempotency-Key`; by default a new random key. */
  createAttempt(body: AttemptRequest, key?: string): Promise<Answer<Attempt>>;
  reportOutcome(attemptId: string, body: OutcomeRequest, key?: string): Promise<Answer<Outcome>>;
  getAttempt(attemptId: string): Promise<Answer<Attempt>>;
  listTournaments(status?: 'all'): Promise<Answer<TournamentList>>;
  getLeaderboard(roundId: string, playerRef?: string): Promise<Answer<Leaderboard>>;
  /** Sandbox: creates, links and funds a player, with these facts. */
  createPlayer(playerRef: string, funds?: string, facts?: PlayerFacts): Promise<Answer<PlayerLink>>;
  holdNextAward(playerRef: string): Promise<Answer<void>>;
  expireAttempt(attemptId: string): Promise<Answer<Attempt>>;
  /** Sandbox: closes the entries of a round, as at `entries_close_at`. */
  closeEntries(roundId: string): Promise<Answer<Round>>;
  /** Sandbox: closes a round, as at `closes_at`; settled or cancelled. */
  closeRound(roundId: string): Promise<Answer<Round>>;
  /** Sandbox: runs the next scheduled retry of a webhook delivery immediately. */
  retryNow(deliveryId: string): Promise<Answer<DeliveryReference>>;
}

export function createPartner(http: HttpClient, apiKey: string): Partner {
  const send: Partner['send'] = (method, path, options = {}) =>
    http.send(method, path, { ...options, headers: { 'x-api-key': apiKey, ...options.headers } });
  const call: Partner['call'] = (method) => callSdk(http, apiKey, method);
  return {
    apiKey,
    send,
    call,
    listChallenges: (playerRef, status) => call(({ challenges }) => challenges.list({ player_ref: playerRef, status })),
    seedChallenge: (challengeId, body, idempotencyKey = randomUUID()) =>
      call(({ challenges }) => challenges.seedDistribution(challengeId, body, { idempotencyKey })),
    linkPlayer: (playerRef, email) => call(({ players }) => players.link({ player_ref: playerRef, email })),
    createAttempt: (body, idempotencyKey = randomUUID()) =>
      call(({ attempts }) => attempts.create(body, { idempotencyKey })),
    reportOutcome: (attemptId, body, idempotencyKey = randomUUID()) =>
      call(({ attempts }) => attempts.reportOutcome(attemptId, body, { idempotencyKey })),
    getAttempt: (attemptId) => call(({ attempts }) => attempts.retrieve(attemptId)),
    listTournaments: (status) => call(({ tournaments }) => tournaments.list({ status })),
    getLeaderboard: (roundId, playerRef) =>
      call(({ rounds }) => rounds.leaderboard(roundId, { player_ref: playerRef })),
    createPlayer: (playerRef, funds, facts) =>
      call(({ sandbox }) => sandbox.createPlayer({ player_ref: playerRef, funds, ...facts })),
    holdNextAward: (playerRef) => call(({ sandbox }) => sandbox.holdNextAward(playerRef)),
    expireAttempt: (attemptId) => call(({ sandbox }) => sandbox.expireAttempt(attemptId)),
    closeEntries: (roundId) => call(({ sandbox }) => sandbox.closeEntries(roundId)),
    closeRound: (roundId) => call(({ sandbox }) => sandbox.closeRound(roundId)),
    retryNow: (deliveryId) => call(({ sandbox }) => sandbox.retryDelivery(deliveryId)),
  };
}
