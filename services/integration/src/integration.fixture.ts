/** The harness of this service's tests: the service on a real database. */
import type { TypedClient } from '@laurel/grpc';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment, type Tenant } from '@laurel/proto/common';
import {
  type CreateIntegrationRequest,
  type Integration,
  IntegrationServiceClient,
  type IntegrationServiceService,
  Transport,
} from '@laurel/proto/integration';
import {
  connectTo,
  createReadLogger,
  createTestClock,
  createTestDatabase,
  expectAccepted,
  type TestClock,
} from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { newId } from '@laurel/values/ids';
import { integrationConfigSchema } from './config.ts';
import { type IntegrationServer, startIntegration } from './server.ts';

/** The key that encrypts the tests' secrets. */
const SECRET_KEY = Buffer.alloc(32, 9);
export const SECRET_KEYS = { current: { version: 1, bytes: SECRET_KEY }, accepted: [] };

type Replica = {
  readonly server: IntegrationServer;
  readonly integrations: TypedClient<IntegrationServiceService>;
} & AsyncDisposable;

export interface Harness extends AsyncDisposable {
  readonly integrations: TypedClient<IntegrationServiceService>;
  readonly server: IntegrationServer;
  readonly database: Database;
  readonly clock: TestClock;
  /** Every line that any replica logged. */
  readonly logLines: readonly string[];
  /** A second replica on the same database, with the same clock. */
  startReplica(): Promise<Replica>;
  /** A tenant whose program is registered and open in both environments. */
  newTenant(environment?: Environment): Promise<Tenant>;
  /**
   * A draft and its signing secret; a push_webhook of a new tenant, unless the request says
   * otherwise.
   */
  createIntegration(request?: Partial<CreateIntegrationRequest>): Promise<{
    readonly integration: Integration;
    readonly tenant: Tenant;
    readonly secret: string;
  }>;
}

/**
 * The harness of one test file, started before its tests run, with these variables added to the
 * environment.
 */
export function useHarness(environment: Record<string, string> = {}): Harness {
  return useStarted(() => startHarness(environment));
}

/**
 * `useHarness` for a file that learns its environment only once it runs, for example a contest
 * service's address.
 */
export async function startHarness(environment: Record<string, string> = {}): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const config = integrationConfigSchema.parse({
    GRPC_PORT: '0',
    INTEGRATION_DATABASE_URL: scratch.runningUrl,
    // Nothing listens there: a test that settles outcomes passes the addresses of contest services.
    CHALLENGE_ADDRESS: '127.0.0.1:1',
    TOURNAMENT_ADDRESS: '127.0.0.1:1',
    INTEGRATION_SECRET_KEY: SECRET_KEY.toString('base64'),
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    // The sweep runs only when a test calls it.
    INTEGRATION_SWEEP_MS: '2000000',
    ...environment,
  });
  const clock = createTestClock();
  const { logger, logLines } = createReadLogger('integration');
  const startReplica = async (): Promise<Replica> => {
    const server = await startIntegration(config, logger, clock);
    const { client, ...replica } = connectTo(server, IntegrationServiceClient, 'integration');
    return { ...replica, integrations: client };
  };
  const { server, integrations } = starting.use(await startReplica());
  const database = starting.use(
    createDatabase({ url: scratch.url, maxConnections: 2, applicationName: 'integration-test' }),
  );
  const newTenant = async (environment: Environment = Environment.LIVE): Promise<Tenant> => {
    const programId = newId();
    const openEnvironments = [Environment.TEST, Environment.LIVE];
    expectAccepted(await integrations.putProgram({ programId, developerId: newId(), openEnvironments, version: 1n }));
    return { programId, environment };
  };

  const running = starting.move();
  return {
    integrations,
    server,
    database,
    clock,
    logLines,
    startReplica,
    newTenant,
    async createIntegration(request = {}) {
      const tenant = request.tenant ?? (await newTenant());
      const creation = { transport: Transport.PUSH_WEBHOOK, descriptorJson: '{}', ...request, tenant };
      const { integration, signingSecret } = expectAccepted(await integrations.createIntegration(creation));
      if (integration === undefined) throw new Error('no integration in the answer');
      return { integration, tenant, secret: signingSecret };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
