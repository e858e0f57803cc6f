/**
 * The client sends the wallet separate calls for each environment, even for concurrent requests.
 */
import { implement, startGrpcServer } from '@laurel/grpc';
import { Environment } from '@laurel/proto/common';
import { FeeState, type RefundFeesRequest, type ResolveFeesRequest, WalletServiceService } from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { feeOf } from './domain/owned-attempt.ts';
import { connectWallet, type Wallet } from './wallet.ts';

const running = new AsyncDisposableStack();
let wallet: Wallet;
/** The environments of the items of each call. */
let calls: (Environment | undefined)[][];

beforeAll(async () => {
  const logger = createLogger({ service: 'wallet', level: 'silent' });
  const unused = Object.keys(WalletServiceService).map((rpc) => [rpc, () => Promise.reject(new Error(rpc))]);
  const handlers = {
    ...Object.fromEntries(unused),
    resolveFees: async ({ queries }: ResolveFeesRequest) => {
      calls.push(queries.map(({ environment }) => environment));
      return { resolutions: queries.map(() => ({ state: FeeState.POSTED, refusalCode: '' })) };
    },
    refundFees: async ({ refunds }: RefundFeesRequest) => {
      calls.push(refunds.map(({ environment }) => environment));
      return { results: refunds.map(() => ({ refunded: true, refundedAt: new Date() })) };
    },
  };
  const callers = Object.fromEntries(Object.keys(WalletServiceService).map((rpc) => [rpc, ['challenge']]));
  const services = [implement(WalletServiceService, handlers as never, { logger, callers: callers as never })];
  const server = running.use(await startGrpcServer({ host: '127.0.0.1', port: 0, services, logger }));
  wallet = running.use(connectWallet(`127.0.0.1:${server.port}`));
});
afterAll(() => running.disposeAsync());
beforeEach(() => {
  calls = [];
});

const EACH = ['live', 'test', 'live', 'test', 'test'] as const;
const newFee = () => feeOf({ id: newOwnedId('challenge'), feeGeneration: 0 });

/**
 * Whether each call had items of one environment only: the first batch, which is sent immediately,
 * and the batches that queue behind it.
 */
const areApart = () => calls.every((environments) => new Set(environments).size === 1);

test('each call that looks up fees names one environment', async () => {
  await Promise.all(
    EACH.map((environment) => wallet.resolveFee({ ...newFee(), environment, tombstoneIfAbsent: false })),
  );
  expect(areApart()).toBe(true);
  expect(calls.flat().toSorted()).toEqual(
    [1, 1, 1, 2, 2].map((value) => (value === 1 ? Environment.TEST : Environment.LIVE)),
  );
});

test('each call that refunds fees names one environment', async () => {
  await Promise.all(
    EACH.map((environment) => wallet.refundFee({ feeTransferId: newFee().transferId, environment, reason: 'expired' })),
  );
  expect(areApart()).toBe(true);
  expect(calls.flat().toSorted()).toEqual(
    [1, 1, 1, 2, 2].map((value) => (value === 1 ? Environment.TEST : Environment.LIVE)),
  );
});
