/** The routes of `/api/sandbox`. */
import type { OwningServices } from '@laurel/attempts/client';
import type { SandboxPlayers } from '../../clients/sandbox-players.ts';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Route } from '../../http/route.ts';
import { expireAttempt } from './attempts.ts';
import { listSandboxEvents } from './events.ts';
import { holdNextAward, putSandboxPlayer } from './players.ts';
import { closeEntries, closeRound } from './rounds.ts';
import { retryWebhookDelivery } from './webhook-deliveries.ts';

/** The dependencies of these routes. */
export interface SandboxServices extends OwningServices {
  readonly wallet: WalletClient;
  readonly sandboxPlayers: SandboxPlayers;
  readonly webhook: WebhookClient;
}

export const SANDBOX_ROUTES: readonly Route<Principal['tenant'], SandboxServices>[] = [
  putSandboxPlayer,
  holdNextAward,
  expireAttempt,
  closeEntries,
  closeRound,
  retryWebhookDelivery,
  listSandboxEvents,
];
