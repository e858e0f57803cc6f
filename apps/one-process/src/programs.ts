/**
 * Each service as a program of this process: how its configuration is read, and how it starts. Only
 * this package imports services, because it is where they are put together.
 */
import { challengeConfigSchema } from '@laurel/challenge/config';
import { startChallenge } from '@laurel/challenge/server';
import { gatewayConfigSchema } from '@laurel/gateway/config';
import { startGateway } from '@laurel/gateway/server';
import { integrationConfigSchema } from '@laurel/integration/config';
import { startIntegration } from '@laurel/integration/server';
import { type Logger, type LogLevel, parseConfig, type RunningService, type SharedProcess } from '@laurel/service';
import type { ServiceName } from '@laurel/topology';
import { tournamentConfigSchema } from '@laurel/tournament/config';
import { startTournament } from '@laurel/tournament/server';
import { walletConfigSchema } from '@laurel/wallet/config';
import { startWallet } from '@laurel/wallet/server';
import { webhookConfigSchema } from '@laurel/webhook/config';
import { startWebhook } from '@laurel/webhook/server';
import type { z } from 'zod';

/** A service whose configuration has been read. */
export interface ConfiguredService {
  readonly logLevel: LogLevel;
  start(logger: Logger, shared: SharedProcess): Promise<RunningService>;
}

export interface Program {
  /** The variables that it reads. */
  readonly variables: readonly string[];
  /** Reads the service's configuration, or throws ConfigError. */
  read(environment: NodeJS.ProcessEnv): ConfiguredService;
}

function program<Config extends { readonly LOG_LEVEL: LogLevel }>(
  schema: z.ZodType<Config> & { readonly shape: object },
  start: (config: Config, logger: Logger, testClock: undefined, shared: SharedProcess) => Promise<RunningService>,
): Program {
  return {
    variables: Object.keys(schema.shape),
    read(environment) {
      const config = parseConfig(schema, environment);
      return {
        logLevel: config.LOG_LEVEL,
        start: (logger, shared) => start(config, logger, undefined, shared),
      };
    },
  };
}

export const PROGRAMS: Readonly<Record<ServiceName, Program>> = {
  wallet: program(walletConfigSchema, startWallet),
  challenge: program(challengeConfigSchema, startChallenge),
  tournament: program(tournamentConfigSchema, startTournament),
  webhook: program(webhookConfigSchema, startWebhook),
  integration: program(integrationConfigSchema, startIntegration),
  gateway: program(gatewayConfigSchema, startGateway),
};
