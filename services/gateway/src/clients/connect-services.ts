/**
 * Connects to the services that the gateway calls, and sets up the caches and queues in front of
 * them.
 */
import { connectChallenge, connectTournament, createHotCalls } from '@laurel/attempts/client';
import type { Foundation } from '@laurel/service';
import type { GatewayConfig } from '../config.ts';
import { connectHealth } from './health.ts';
import { connectIntegration } from './integration.ts';
import { createPushClient } from './pushes.ts';
import { createSandboxPlayers } from './sandbox-players.ts';
import { createSigningKeys } from './signing-keys.ts';
import { connectWallet } from './wallet.ts';
import { connectWebhook } from './webhook.ts';

export function connectServices(config: GatewayConfig, channels: Foundation) {
  const { started } = channels;
  const wallet = started.use(connectWallet(config.WALLET_ADDRESS, channels));
  const challenge = started.use(connectChallenge(config.CHALLENGE_ADDRESS, channels));
  const tournament = started.use(connectTournament(config.TOURNAMENT_ADDRESS, channels));
  const webhook = started.use(connectWebhook(config.WEBHOOK_ADDRESS, channels));
  const integration = started.use(connectIntegration(config.INTEGRATION_ADDRESS, channels));
  const services = [
    started.use(connectHealth('wallet', config.WALLET_ADDRESS, channels)),
    started.use(connectHealth('challenge', config.CHALLENGE_ADDRESS, channels)),
    started.use(connectHealth('tournament', config.TOURNAMENT_ADDRESS, channels)),
    started.use(connectHealth('webhook', config.WEBHOOK_ADDRESS, channels)),
    started.use(connectHealth('integration', config.INTEGRATION_ADDRESS, channels)),
  ];
  const hotCalls = started.use(createHotCalls({ challenge, tournament }));
  const pushes = started.use(createPushClient(integration));
  const sandboxPlayers = started.use(createSandboxPlayers(wallet));
  const signingKeys = createSigningKeys([challenge, tournament]);

  return {
    wallet,
    challenge,
    tournament,
    webhook,
    integration,
    hotCalls,
    pushes,
    sandboxPlayers,
    signingKeys,
    /** The names of the services that do not respond. */
    async findMissing(): Promise<readonly string[]> {
      const checks = await Promise.all(services.map(({ isServing }) => isServing()));
      return services.flatMap(({ service }, index) => (checks[index] ? [] : [service]));
    },
  };
}
