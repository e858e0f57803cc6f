import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createClient, type Handlers, IN_PROCESS, implement } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { WebhookServiceClient, WebhookServiceService } from '@laurel/proto/webhook';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Foundation } from './foundation.ts';
import { createLogger } from './logger.ts';
import { type RunningService, type ServiceParts, startRpcService } from './rpc-service.ts';
import { grpcServiceSettings } from './settings.ts';
import { type SharedProcess, startSharedProcess } from './shared-process.ts';
import type { Worker } from './worker.ts';

const logger = createLogger({ service: 'webhook', level: 'silent' });
const PROGRAM = { programId: '', developerId: '', openEnvironments: [], version: 0n };

/** The service has one rpc. Its database role owns everything, which the settings allow. */
function start(
  startParts: (foundation: Foundation) => ServiceParts<object>,
  settings: Readonly<Record<string, string>> = {},
  shared?: SharedProcess,
) {
  const url = process.env.LAUREL_TEST_POSTGRES_URL;
  if (url === undefined) throw new Error('LAUREL_TEST_POSTGRES_URL is not set: the test run has no PostgreSQL');
  const environment = { GRPC_PORT: '0', ALLOW_PRIVILEGED_DATABASE_ROLE: 'true', ...settings };
  const config = z.object(grpcServiceSettings).parse(environment);
  const database = { url, maxConnections: 2 };
  return startRpcService(
    { name: 'webhook', config, database, logger, testClock: () => new Date(), shared },
    startParts,
  );
}

function partsOf({
  putProgram = async () => ({}),
  workers = [],
}: {
  readonly putProgram?: Handlers<WebhookServiceService>['putProgram'];
  readonly workers?: readonly Worker[];
} = {}): ServiceParts<object> {
  const handlers = { putProgram } as Handlers<WebhookServiceService>;
  const rpcs = implement(WebhookServiceService, handlers, { logger, callers: ['gateway'] });
  return { rpcs: [rpcs], workers, audit: null, forTests: {} };
}

function connectTo({ port }: RunningService) {
  return createClient(WebhookServiceClient, { name: 'webhook', address: `127.0.0.1:${port}` });
}

test('a stopping service closes its admin port, calls, workers, parts and database in this order', async () => {
  const ended: string[] = [];
  const [called, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [ran, mayEndRun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let run = async () => {};
  const service = await start(({ started, database }) => {
    started.defer(async () => void ended.push(`first part, database ${await database.isReachable()}`));
    started.defer(() => void ended.push('second part'));
    const putProgram = async () => {
      called.resolve();
      await mayAnswer.promise;
      ended.push('call');
      return {};
    };
    return partsOf({ putProgram, workers: [{ name: 'sweep', intervalMs: 1, runOnce: () => run() }] });
  });
  const readiness = () => fetch(`http://127.0.0.1:${service.adminPort}/readyz`);
  expect((await readiness()).status).toBe(200);
  await using client = connectTo(service);
  const call = client.putProgram(PROGRAM);
  await called.promise;

  const stopped = service[Symbol.asyncDispose]();
  await expect(readiness()).rejects.toThrow();
  // The worker begins another run while the call is in flight.
  run = async () => {
    run = async () => {};
    ran.resolve();
    await mayEndRun.promise;
    ended.push('run');
  };
  await ran.promise;
  mayAnswer.resolve();
  expect(await call).toEqual({});
  mayEndRun.resolve();
  await stopped;
  expect(ended).toEqual(['call', 'run', 'second part', 'first part, database true']);
});

test('a failed start stops what it has started in reverse order', async () => {
  const ended: string[] = [];
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  onTestFinished(() => void blocker.close());
  const { port } = blocker.address() as AddressInfo;
  const [ran, mayEndRun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runOnce = async () => {
    ran.resolve();
    await mayEndRun.promise;
    ended.push('run');
  };
  const started = start(
    (foundation) => {
      foundation.started.defer(
        async () => void ended.push(`first part, database ${await foundation.database.isReachable()}`),
      );
      foundation.started.defer(() => void ended.push('second part'));
      return partsOf({ workers: [{ name: 'sweep', intervalMs: 1, runOnce }] });
    },
    { GRPC_PORT: String(port) },
  );
  await ran.promise;
  mayEndRun.resolve();
  await expect(started).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(ended).toEqual(['run', 'second part', 'first part, database true']);
});

test('a part that fails at the start closes the parts before it', async () => {
  const ended: string[] = [];
  let opened: Database | undefined;
  const started = start(({ started: parts, database }) => {
    opened = database;
    parts.defer(() => void ended.push('first part'));
    throw new Error('the second part does not start');
  });
  await expect(started).rejects.toThrow('the second part does not start');
  expect(ended).toEqual(['first part']);
  expect(await opened?.isReachable()).toBe(false);
});

test('no part starts on a database whose role has too many privileges', async () => {
  let isPartStarted = false;
  const startParts = () => {
    isPartStarted = true;
    return partsOf();
  };
  const started = start(startParts, { ALLOW_PRIVILEGED_DATABASE_ROLE: 'false' });
  await expect(started).rejects.toThrow('give the service a role that may do what its grants.sql allows');
  expect(isPartStarted).toBe(false);
});

test('a service of a shared process is called without a port', async () => {
  await using shared = await startSharedProcess({ host: '127.0.0.1', port: 0, services: ['webhook', 'gateway'] });
  const readiness = async () => {
    const response = await fetch(`http://127.0.0.1:${shared.adminPort}/readyz`);
    return [response.status, await response.text()];
  };
  await expect.poll(readiness, { interval: 20 }).toEqual([503, 'not ready: webhook, gateway']);

  const callers: unknown[] = [];
  const putProgram: Handlers<WebhookServiceService>['putProgram'] = async (_, { caller }) => {
    callers.push(caller);
    return {};
  };
  const service = await start(() => partsOf({ putProgram }), { GRPC_PORT: IN_PROCESS }, shared);
  expect(service).toMatchObject({ port: 0, adminPort: shared.adminPort });
  await expect.poll(readiness, { interval: 20 }).toEqual([503, 'not ready: gateway']);
  let isServing = true;
  using _gateway = shared.add('gateway', {
    isServing: () => isServing,
    isReady: () => ({ missing: [] }),
    dependencies: async () => ({ missing: ['wallet'] }),
  });
  await expect.poll(readiness, { interval: 20 }).toEqual([200, 'ready']);
  const dependencies = await fetch(`http://127.0.0.1:${shared.adminPort}/readyz/dependencies`);
  expect(await dependencies.text()).toBe('not ready: gateway: wallet');
  isServing = false;
  expect(await readiness()).toEqual([503, 'not ready']);

  const inProcess = shared.channelOf('gateway');
  await using client = createClient(WebhookServiceClient, { name: 'webhook', address: IN_PROCESS, inProcess });
  expect(await client.putProgram(PROGRAM)).toEqual({});
  expect(callers).toEqual(['gateway']);
  await service[Symbol.asyncDispose]();
  expect(inProcess.isServing('webhook')).toBe(false);
});

test('a service without a port does not start in a process of its own', async () => {
  await expect(start(() => partsOf(), { GRPC_PORT: IN_PROCESS })).rejects.toThrow(
    'GRPC_PORT is in-process, and the process has no other service',
  );
});
