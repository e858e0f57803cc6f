/**
 * The routes of `/api/portal` that need a session. Sign-in, which needs none, is in `session.ts`.
 */
import type { ChallengeClient, OwningServices, TournamentClient } from '@laurel/attempts/client';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Admission } from '../../admission/admission.ts';
import type { IntegrationClient } from '../../clients/integration.ts';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import type { GatewayConfig } from '../../config.ts';
import type { Peppers } from '../../domain/peppers.ts';
import type { Session } from '../../domain/session.ts';
import type { Route } from '../../http/route.ts';
import { getOwnAttempt, getOwnReceipt, listOwnAttempts } from './attempts.ts';
import { getChallengeStatistics, getProgramChallenge, listProgramChallenges } from './challenges.ts';
import { type DryRunDependencies, dryRunDescriptor, listIntegrationLog } from './integrations.ts';
import { getProgramOverview } from './overview.ts';
import { PROGRAM_INTEGRATION_ROUTES } from './program-integrations.ts';
import { PROGRAM_SANDBOX_ROUTES, type ProgramSandboxServices } from './program-sandbox.ts';
import { getOwnProgram, listOwnPrograms, replaceTestKey } from './programs.ts';
import { getRequest, listRequests } from './requests.ts';
import { getSignedInDeveloper, signOut } from './session.ts';
import {
  getProgramTournament,
  listProgramTournaments,
  listRoundStandings,
  listTournamentRounds,
} from './tournaments.ts';
import { getWebhookDelivery, resendWebhookDelivery } from './webhook-deliveries.ts';
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getEndpointStats,
  getWebhookEndpoint,
  listWebhookDeliveries,
  listWebhookEndpoints,
  resendFailedDeliveries,
  rotateWebhookSecret,
  sendTestEvent,
} from './webhook-endpoints.ts';
import { listWebhookEvents } from './webhook-events.ts';

/** The dependencies of these routes. */
export interface PortalServices extends ProgramSandboxServices, OwningServices {
  readonly config: Pick<
    GatewayConfig,
    'PORTAL_SESSION_HOURS' | 'PORTAL_COOKIE_SECURE' | 'PORTAL_RATE_LIMIT_PER_MINUTE' | 'ACCEPTED_ENVIRONMENTS'
  >;
  readonly database: Database;
  readonly peppers: Peppers;
  readonly clock: Clock;
  readonly admission: Pick<Admission, 'revoke'>;
  readonly wallet: WalletClient;
  readonly challenge: ChallengeClient;
  readonly tournament: TournamentClient;
  readonly webhook: WebhookClient;
  readonly integration: IntegrationClient;
  readonly dryRunBudgets: DryRunDependencies['dryRunBudgets'];
}

export const PORTAL_ROUTES: readonly Route<Session, PortalServices>[] = [
  signOut,
  getSignedInDeveloper,
  listOwnPrograms,
  getOwnProgram,
  getProgramOverview,
  listOwnAttempts,
  getOwnAttempt,
  getOwnReceipt,
  replaceTestKey,
  listWebhookEvents,
  listRequests,
  getRequest,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  sendTestEvent,
  listWebhookDeliveries,
  getEndpointStats,
  resendFailedDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  dryRunDescriptor,
  listIntegrationLog,
  ...PROGRAM_INTEGRATION_ROUTES,
  ...PROGRAM_SANDBOX_ROUTES,
  listProgramChallenges,
  getProgramChallenge,
  getChallengeStatistics,
  listProgramTournaments,
  getProgramTournament,
  listTournamentRounds,
  listRoundStandings,
];
