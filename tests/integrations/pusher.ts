/** Pushes to the integration service as the gateway passes them on: to any of its replicas, signed or not. */
import { createClient, type TypedClient } from '@laurel/grpc';
import { newId } from '@laurel/ids';
import { Environment } from '@laurel/proto/common';
import {
  type BatchResult,
  IntegrationServiceClient,
  type IntegrationServiceService,
  IntegrationStatus,
  type LogEntry,
  type PushResult,
  RecordStatus,
  type SettledRecord,
  Transport,
} from '@laurel/proto/integration';
import { signWebhook } from '@laurel/signature';
import { ok, type Stack } from '@laurel/testing';
import { eventually, type World } from '../world.ts';

type Client = TypedClient<IntegrationServiceService>;

/** An active push_webhook. */
export interface PushedIntegration {
  readonly id: string;
  readonly secret: string;
  readonly programId: string;
  readonly developerId: string;
  readonly environment: Environment;
}

export interface Pusher extends AsyncDisposable {
  readonly replicas: readonly Client[];
  newIntegration(options?: {
    readonly programId?: string;
    readonly environment?: Environment;
    readonly descriptor?: object;
    readonly status?: IntegrationStatus;
  }): Promise<PushedIntegration>;
  /** Opens or suspends the program of the integration. */
  putProgram(integration: PushedIntegration, openEnvironments: readonly Environment[]): Promise<void>;
  /** Pushes the body, to the first replica unless another is given. */
  push(
    integration: PushedIntegration,
    body: unknown,
    options?: { replica?: number; signature?: string },
  ): Promise<PushResult['result']>;
  /** The newest entries of the log, once there are as many. */
  log(integration: PushedIntegration, count: number): Promise<readonly LogEntry[]>;
}

/** Newer than what the gateway registers. */
let version = 1_000_000_000_000n;

export async function startPusher({ stack, program }: Pick<World, 'stack' | 'program'>): Promise<Pusher> {
  await using starting = new AsyncDisposableStack();
  const replicas = addressesOf(stack).map((address) =>
    starting.use(createClient(IntegrationServiceClient, { name: 'integration', address, deadlineMs: 20_000 })),
  );
  const [first] = replicas;
  if (first === undefined) throw new Error('the stack has no integration service');
  const putProgram = async (programId: string, developerId: string, openEnvironments: readonly Environment[]) => {
    version += 1n;
    ok(await first.putProgram({ programId, developerId, openEnvironments: [...openEnvironments], version }));
  };

  const running = starting.move();
  return {
    replicas,
    async newIntegration(options = {}) {
      const { programId = program.id, environment = Environment.TEST, descriptor = {} } = options;
      const developerId = newId();
      await putProgram(programId, developerId, [Environment.TEST, Environment.LIVE]);
      const tenant = { programId, environment };
      const made = ok(
        await first.createIntegration({
          tenant,
          transport: Transport.PUSH_WEBHOOK,
          descriptorJson: JSON.stringify(descriptor),
        }),
      );
      const id = made.integration?.id ?? '';
      const { status = IntegrationStatus.ACTIVE } = options;
      ok(await first.updateIntegration({ tenant, integrationId: id, status }));
      return { id, secret: made.signingSecret, programId, developerId, environment };
    },
    putProgram: ({ programId, developerId }, environments) => putProgram(programId, developerId, environments),
    async push(integration, body, { replica = 0, signature } = {}) {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const push = {
        integrationId: integration.id,
        signature: signature ?? signWebhook(integration.secret, bytes),
        body: bytes,
        requestId: newId(),
      };
      const client = replicas[replica] ?? first;
      return ok(await client.receivePushes({ pushes: [push] })).results[0]?.result;
    },
    log: ({ id, developerId }, count) =>
      eventually(async () => {
        const page = ok(await first.listLog({ developerId, integrationId: id, cursor: '', limit: 100 }));
        return page.entries.length >= count ? page.entries : undefined;
      }, `the log has ${count} entries`),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function addressesOf(stack: Pick<Stack, 'address'>): readonly string[] {
  return stack.address('integration').replace('ipv4:', '').split(',');
}

/** The outcome of a body that is one record; anything else is a failed test. */
export function settledOf(result: PushResult['result']): SettledRecord {
  if (result?.$case !== 'settled') throw new Error(`not settled: ${describe(result)}`);
  return result.value;
}

export function recordsOf(result: PushResult['result']): BatchResult['records'] {
  if (result?.$case !== 'batch') throw new Error(`not a batch: ${describe(result)}`);
  return result.value.records;
}

/** `settled`, `duplicate`, `listened`, `ignored`, or the code of the refusal; of a body that is one record. */
export function verdictOf(result: PushResult['result']): string {
  if (result?.$case === 'settled') return result.value.repeated ? 'duplicate' : 'settled';
  if (result?.$case === 'refused') return result.value.code;
  if (result?.$case === 'batch') return verdictsOf(result).join();
  return result?.$case ?? 'nothing';
}

/** The same of each record of a body. */
export function verdictsOf(result: PushResult['result']): readonly string[] {
  return recordsOf(result).map(({ status, code }) => {
    switch (status) {
      case RecordStatus.SETTLED:
        return 'settled';
      case RecordStatus.DUPLICATE:
        return 'duplicate';
      case RecordStatus.LISTENED:
        return 'listened';
      case RecordStatus.IGNORED:
        return 'ignored';
      default:
        return code;
    }
  });
}

function describe(result: PushResult['result']): string {
  return JSON.stringify(result, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
