/**
 * What only calls between services of one process promise. `grpc.test.ts` has what holds for every
 * call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { status } from '@grpc/grpc-js';
import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import {
  type ChargeFeesRequest,
  type ChargeFeesResponse,
  FeeState,
  WalletServiceClient,
  type WalletServiceService,
} from '@laurel/proto/wallet';
import { metrics } from '@laurel/telemetry';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AcceptedCallers, Caller } from './caller.ts';
import { createClient } from './client.ts';
import { createInProcessChannels, IN_PROCESS } from './in-process.ts';
import { ALL_RPCS, createWalletFixture, failureOf, respond } from './wallet.fixture.ts';

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack, 'in-process');
});
afterEach(() => stack.disposeAsync());

const deny = { awardId: 'a' };

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

test('neither side of an in-process call can change the values of the other side', async () => {
  const query = () => ({ transferId: 'a', attemptId: 'b', feeGeneration: 1, tombstoneIfAbsent: true });
  const kept = frozen({ resolutions: [{ state: FeeState.POSTED, refusalCode: 'kept' }] });
  const { port } = await fixture.serve({
    resolveFees: async ({ queries }) => {
      for (const each of queries) each.transferId = 'changed by the handler';
      queries.push(query());
      return kept;
    },
  });
  const request = frozen({ queries: [query()] });
  const response = respond(await fixture.connect(port).resolveFees(request));
  for (const each of response.resolutions) each.refusalCode = 'changed by the caller';
  response.resolutions.push({ state: FeeState.ABSENT, refusalCode: '' });
  expect(request).toEqual({ queries: [query()] });
  expect(kept).toEqual({ resolutions: [{ state: FeeState.POSTED, refusalCode: 'kept' }] });
});

test('both sides of an in-process call get what gRPC would deliver', async () => {
  const seen: ChargeFeesRequest[] = [];
  let answer: ChargeFeesResponse = { results: [] };
  const handlers = {
    chargeFees: async (request: ChargeFeesRequest) => {
      seen.push(request);
      return answer;
    },
  };
  const overGrpc = createWalletFixture(stack);
  const clients = [
    overGrpc.connect((await overGrpc.serve(handlers)).port, { hot: ALL_RPCS }),
    fixture.connect((await fixture.serve(handlers)).port),
  ];
  const text = fc.string({ unit: 'binary', maxLength: 5 });
  const unpaired = fc.constantFrom('\ud800', '\udfff-', '\u0000');
  const any = fc.oneof(text, unpaired);
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const player = fc.record({
    tenant: fc.option(
      fc.record({ programId: any, environment: fc.constantFrom(Environment.LIVE, Environment.TEST, 77 as never) }),
      { nil: undefined },
    ),
    playerRef: any,
  });
  const charge = fc.record({
    transferId: any,
    attemptId: any,
    player: fc.option(player, { nil: undefined }),
    accountId: any,
    feeCents: int64,
    requirement: fc.option(
      fc.record({
        verificationLevel: fc.constantFrom(0, -0, 1, -1, 2 ** 31),
        jurisdictions: fc.array(any),
        refuseInsiders: fc.boolean(),
      }),
      { nil: undefined },
    ),
    feeGeneration: fc.integer(),
  });
  const result = fc.oneof(
    fc.constant(undefined),
    fc
      .option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') }), { nil: undefined })
      .map((postedAt) => ({ $case: 'posted' as const, value: { postedAt } })),
    fc.record({ $case: fc.constant('moved' as const), value: fc.record({ accountId: any }) }),
    fc.record({ $case: fc.constant('refused' as const), value: fc.record({ code: any, message: any }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(charge), fc.array(result), async (charges, results) => {
      answer = { results: results.map((each) => ({ result: each })) } as ChargeFeesResponse;
      const request: ChargeFeesRequest = { charges };
      seen.length = 0;
      const ends = [];
      for (const client of clients) {
        ends.push(await client.chargeFees(request).catch(({ code }: { code: status }) => ({ code })));
      }
      expect(ends[1]).toStrictEqual(ends[0]);
      expect(seen[1]).toStrictEqual(seen[0]);
    }),
  );
});

test('the caller of an in-process call is the service for which the channel was made', async () => {
  const seen: Caller[] = [];
  const see = async (_: unknown, { caller }: { readonly caller: Caller }) => {
    seen.push(caller);
    return refused('not_found');
  };
  const everyRpc = Object.fromEntries(ALL_RPCS.map((rpc) => [rpc, ['gateway', 'challenge']]));
  const callers = { ...everyRpc, releasePayout: ['challenge'] } as unknown as AcceptedCallers<WalletServiceService>;
  const { port } = await fixture.serve({ denyPayout: see, releasePayout: see }, 0, 5_000, { callers });
  const [gateway, challenge] = [
    fixture.connect(port, { caller: 'gateway' }),
    fixture.connect(port, { caller: 'challenge' }),
  ];
  expect(await challenge.releasePayout(deny)).toEqual(refused('not_found'));
  expect(await gateway.denyPayout(deny)).toEqual(refused('not_found'));
  const turnedAway = { code: status.PERMISSION_DENIED, definite: true };
  expect(await failureOf(gateway.releasePayout(deny))).toMatchObject(turnedAway);
  expect(await failureOf(fixture.connect(port, { caller: 'webhook' }).denyPayout(deny))).toMatchObject(turnedAway);
  expect(seen).toEqual(['challenge', 'gateway']);
  expect(fixture.logged.map(({ fields }) => fields)).toMatchObject([{ caller: 'gateway' }, { caller: 'webhook' }]);
  expect(await metrics.metrics()).toMatch(/laurel_grpc_calls_not_permitted_total\{[^}]*caller="webhook"[^}]*\} 1/);
});

test('a handler runs in the async context of its own service', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const { port } = await context.run('wallet', () =>
    fixture.serve({
      audit: async () => {
        seen.push(context.getStore());
        return { checks: [] };
      },
    }),
  );
  const wallet = fixture.connect(port);
  await context.run('gateway', async () => {
    await wallet.audit({});
    seen.push(context.getStore());
  });
  expect(seen).toEqual(['wallet', 'gateway']);
});

test('a client of an in-process service does not start in a process without that service', () => {
  const connect = () => createClient(WalletServiceClient, { name: 'wallet', address: IN_PROCESS });
  expect(connect).toThrow('wallet has no address: it does not stand in this process');
});

test('one process cannot have two services of the same name', async () => {
  const channel = createInProcessChannels()('wallet');
  const options = { services: [], logger: fixture.logger };
  stack.use(channel.serve(options));
  expect(() => channel.serve(options)).toThrow('wallet serves in this process already');
});
