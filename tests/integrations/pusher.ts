/** Signed pushes to the integration service, in the gateway's form. */
import { createClient } from '@laurel/grpc';
import { Environment } from '@laurel/proto/common';
import {
  type BatchResult,
  IntegrationServiceClient,
  IntegrationStatus,
  type PushResult,
  RecordStatus,
  type SettledRecord,
  Transport,
} from '@laurel/proto/integration';
import { signWebhook } from '@laurel/signature';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import type { World } from '../world.ts';

/** An active push_webhook of the first program, in test. */
export interface PushedIntegration {
  readonly id: string;
  readonly secret: string;
}

export interface Pusher extends AsyncDisposable {
  newIntegration(options?: { readonly descriptor?: object }): Promise<PushedIntegration>;
  push(integration: PushedIntegration, body: object): Promise<PushResult['result']>;
}

/** Newer than the versions that the gateway registers. */
const VERSION = 10_000_000_000_000_000n;

export async function startPusher({ stack, program }: Pick<World, 'stack' | 'program'>): Promise<Pusher> {
  const address = stack.address('integration');
  await using starting = new AsyncDisposableStack();
  const client = starting.use(
    createClient(IntegrationServiceClient, { name: 'integration', address, deadlineMs: 20_000 }),
  );
  const openEnvironments = [Environment.TEST, Environment.LIVE];
  expectAccepted(
    await client.putProgram({ programId: program.id, developerId: newId(), openEnvironments, version: VERSION }),
  );
  const tenant = { programId: program.id, environment: Environment.TEST };

  const running = starting.move();
  return {
    async newIntegration({ descriptor = {} } = {}) {
      const creation = { tenant, transport: Transport.PUSH_WEBHOOK, descriptorJson: JSON.stringify(descriptor) };
      const { integration, signingSecret } = expectAccepted(await client.createIntegration(creation));
      const id = integration?.id ?? '';
      expectAccepted(await client.updateIntegration({ tenant, integrationId: id, status: IntegrationStatus.ACTIVE }));
      return { id, secret: signingSecret };
    },
    async push({ id, secret }, body) {
      const bytes = Buffer.from(JSON.stringify(body));
      const push = { integrationId: id, signature: signWebhook(secret, bytes), body: bytes, requestId: newId() };
      return expectAccepted(await client.receivePushes({ pushes: [push] })).results[0]?.result;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The outcome of a body that is one record; anything else fails the test. */
export function settledOf(result: PushResult['result']): SettledRecord {
  if (result?.$case !== 'settled') throw new Error(`not settled: ${describe(result)}`);
  return result.value;
}

/**
 * `settled`, `duplicate`, `listened`, or the code of the refusal; for several records, separated by
 * commas.
 */
export function verdictOf(result: PushResult['result']): string {
  if (result?.$case === 'settled') return result.value.repeated ? 'duplicate' : 'settled';
  if (result?.$case === 'refused') return result.value.code;
  if (result?.$case === 'batch') return verdictsOf(result.value).join();
  return result?.$case ?? 'nothing';
}

function verdictsOf({ records }: BatchResult): readonly string[] {
  return records.map(({ status, code }) => {
    switch (status) {
      case RecordStatus.SETTLED:
        return 'settled';
      case RecordStatus.DUPLICATE:
        return 'duplicate';
      case RecordStatus.LISTENED:
        return 'listened';
      default:
        return code;
    }
  });
}

function describe(result: PushResult['result']): string {
  return JSON.stringify(result, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
