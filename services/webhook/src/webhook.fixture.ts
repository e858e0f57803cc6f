/**
 * The harness of this service's tests: the service on a real database. Tests pass events to it as
 * the stream would.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TypedClient } from '@laurel/grpc';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import {
  type CreateEndpointRequest,
  type Delivery,
  DeliveryStatus,
  type Endpoint,
  WebhookServiceClient,
  type WebhookServiceService,
} from '@laurel/proto/webhook';
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
import { webhookConfigSchema } from './config.ts';
import { startWebhook, type WebhookServer } from './server.ts';

/** The key that encrypts the tests' secrets. */
const SECRET_KEY = Buffer.alloc(32, 7);
export const SECRET_KEYS = { current: { version: 1, bytes: SECRET_KEY }, accepted: [] };
/** A URL that the tests' configuration allows; nothing listens on its port. */
export const URL_OF_NOBODY = 'https://127.0.0.1:1025/hooks';

type Replica = {
  readonly server: WebhookServer;
  readonly webhook: TypedClient<WebhookServiceService>;
} & AsyncDisposable;

export interface Harness extends AsyncDisposable {
  readonly webhook: TypedClient<WebhookServiceService>;
  readonly server: WebhookServer;
  readonly database: Database;
  readonly clock: TestClock;
  /** Issues certificates that this service trusts: `startReceiver({ ca: h.ca })`. */
  readonly ca: CertificateAuthority;
  /** Every line that any replica logged. */
  readonly logLines: readonly string[];
  /** A second replica on the same database, with the same clock. */
  startReplica(): Promise<Replica>;
  /** An endpoint and its secret; its developer is new unless one is given. */
  createEndpoint(request?: Partial<CreateEndpointRequest>): Promise<{
    readonly endpoint: Endpoint;
    readonly developerId: string;
    readonly secret: string;
  }>;
  /** The endpoint's whole log, page by page. */
  deliveriesOf(
    owner: { readonly developerId: string; readonly endpoint: Pick<Endpoint, 'id'> },
    options?: { readonly limit?: number; readonly status?: DeliveryStatus; readonly event?: string },
  ): Promise<readonly Delivery[]>;
}

/**
 * The harness of one test file, started before its tests run, with these variables added to the
 * environment.
 */
export function useHarness(environment: Record<string, string> = {}): Harness {
  return useStarted(() => startHarness(environment));
}

/**
 * `useHarness` for a file that learns its environment only once it runs, for example a receiver's
 * port.
 */
export async function startHarness(environment: Record<string, string> = {}): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const ca = await createCertificateAuthority();
  const directory = starting.adopt(await mkdtemp(join(tmpdir(), 'laurel-webhook-test-')), (it) =>
    rm(it, { recursive: true }),
  );
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, ca.certificate);
  const config = webhookConfigSchema.parse({
    GRPC_PORT: '0',
    WEBHOOK_DATABASE_URL: scratch.runningUrl,
    // Nothing listens there: the service runs without its stream, and a test calls `consume`
    // itself.
    NATS_URL: 'nats://127.0.0.1:1',
    WEBHOOK_SECRET_KEY: SECRET_KEY.toString('base64'),
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    EGRESS_CA_FILE: caFile,
    // The sweep runs only when a test calls it.
    WEBHOOK_SWEEP_MS: '2000000',
    ...environment,
  });
  const clock = createTestClock();
  const { logger, logLines } = createReadLogger('webhook');
  const startReplica = async (): Promise<Replica> => {
    const server = await startWebhook(config, logger, clock);
    const { client, ...replica } = connectTo(server, WebhookServiceClient, 'webhook');
    return { ...replica, webhook: client };
  };
  const { server, webhook } = starting.use(await startReplica());
  const database = starting.use(
    createDatabase({ url: scratch.url, maxConnections: 8, applicationName: 'webhook-test' }),
  );

  const running = starting.move();
  return {
    webhook,
    server,
    database,
    clock,
    ca,
    logLines,
    startReplica,
    async createEndpoint(request = {}) {
      const developerId = request.developerId ?? newId();
      const creation = {
        programIds: [],
        url: URL_OF_NOBODY,
        events: [],
        environment: Environment.UNSPECIFIED,
        description: '',
        ...request,
        developerId,
      };
      const { endpoint, signingSecret } = expectAccepted(await webhook.createEndpoint(creation));
      if (endpoint === undefined) throw new Error('no endpoint in the answer');
      return { endpoint, developerId, secret: signingSecret };
    },
    async deliveriesOf(
      { developerId, endpoint },
      { limit = 200, status = DeliveryStatus.UNSPECIFIED, event = '' } = {},
    ) {
      const deliveries: Delivery[] = [];
      for (let cursor = ''; ; ) {
        const wanted = { developerId, endpointId: endpoint.id, status, event, limit, cursor, after: '' };
        const page = expectAccepted(await webhook.listDeliveries(wanted));
        deliveries.push(...page.deliveries);
        if (page.nextCursor === '') return deliveries;
        cursor = page.nextCursor;
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
