export type { ApiAnswer, ApiPromise } from './api-promise.ts';
export type * from './api-types.ts';
export { LaurelError, type LaurelErrorCode } from './errors.ts';
export type { Fetch, FetchRequest, FetchResponse } from './fetch.ts';
export { Laurel } from './laurel.ts';
export { fromCents, toCents } from './money.ts';
export { type NodeRequest, type NodeResponse, toNodeListener } from './node-listener.ts';
export type { LaurelOptions } from './options.ts';
export { createPlayerHandler, type PlayerApi, type PlayerHandlerOptions } from './player-handler.ts';
export type {
  Attempt as PlayerAttempt,
  Challenge as PlayerChallenge,
  Leaderboard as PlayerLeaderboard,
  LeaderboardRow as PlayerLeaderboardRow,
  Round as PlayerRound,
} from './player-shapes.ts';
export { listedKeys, pinnedKey, type TrustedKey } from './receipts/trusted-keys.ts';
export { type ReceiptVerdict, verifyReceipt } from './receipts/verify-receipt.ts';
export type { ListChallengesQuery } from './resources/challenges.ts';
export type { LeaderboardQuery } from './resources/rounds.ts';
export type { ListSandboxEventsQuery } from './resources/sandbox.ts';
export type { ListTournamentsQuery } from './resources/tournaments.ts';
export type { CallOptions, KeyedCallOptions } from './send.ts';
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from './verify-webhook.ts';
export { type RawBody, signIntegrationBody, signWebhook } from './webhook-signature.ts';
