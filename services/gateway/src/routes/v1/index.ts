/** The routes of `/v1`, in the contract's order. */
import type { HotCalls, OwningServices } from '@laurel/attempts/client';
import type { Database } from '@laurel/postgres';
import type { IntegrationClient } from '../../clients/integration.ts';
import type { WalletClient } from '../../clients/wallet.ts';
import { createAttempt } from './create-attempt.ts';
import { createIntegration } from './create-integration.ts';
import { getAttempt } from './get-attempt.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { linkPlayer } from './link-player.ts';
import { listChallenges } from './list-challenges.ts';
import { listIntegrations } from './list-integrations.ts';
import { listTournaments } from './list-tournaments.ts';
import { reportOutcome } from './report-outcome.ts';
import { retirePreviousIntegrationSecret } from './retire-previous-integration-secret.ts';
import { rotateIntegrationSecret } from './rotate-integration-secret.ts';
import type { V1Route } from './route.ts';
import { seedDistribution } from './seed-distribution.ts';
import { updateIntegration } from './update-integration.ts';

/** The dependencies of these routes. */
export interface V1Services extends OwningServices {
  readonly database: Database;
  readonly wallet: WalletClient;
  readonly integration: IntegrationClient;
  readonly hotCalls: HotCalls;
}

/**
 * The last five routes, of integrations, take no idempotency key and refuse only with
 * `invalid_request`, `unauthorized`, `not_found` and `internal_error`. The limiter's 429 has no
 * code, and applies to all of `/v1`, including these.
 */
export const V1_ROUTES: readonly V1Route<V1Services>[] = [
  listChallenges,
  seedDistribution,
  linkPlayer,
  createAttempt,
  reportOutcome,
  getAttempt,
  listTournaments,
  getLeaderboard,
  createIntegration,
  listIntegrations,
  updateIntegration,
  rotateIntegrationSecret,
  retirePreviousIntegrationSecret,
];
