import { once } from 'node:events';
import { type ClientReadableStream, credentials, Metadata, makeGenericClientConstructor, status } from '@grpc/grpc-js';
import { type ApiErrorCode, HTTP_STATUS, refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { Environment } from '@laurel/proto/common';
import { metrics } from '@laurel/telemetry';
import { service as healthService } from 'grpc-health-check';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCoalescedCall } from './coalesced-call.ts';
import { type CallFailedError, UnavailableError } from './error-mapping.ts';
import {
  ALL_RPCS,
  type CallPath,
  createWalletFixture,
  failureOf,
  respond,
  type WalletHandlers,
  type WalletRpc,
} from './wallet.fixture.ts';

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;
let logged: typeof fixture.logged;
let serve: typeof fixture.serve;
let way: CallPath = 'gRPC';
/** The rpcs that clients call over the multiplexer. */
let hot: readonly WalletRpc[] = [];

beforeEach(() => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack, way);
  ({ logged, serve } = fixture);
});
afterEach(() => stack.disposeAsync());

function connect(port: number, options: Parameters<typeof fixture.connect>[1] = {}) {
  return fixture.connect(port, { hot, ...options });
}

const query = (transferId: string) => ({
  transferId,
  attemptId: '',
  feeGeneration: 0,
  tombstoneIfAbsent: false,
});
const deny = { awardId: 'a' };

describe.each([
  { how: 'unary', by: 'gRPC', rpcs: [] },
  { how: 'over the multiplexer', by: 'gRPC', rpcs: ALL_RPCS },
  { how: 'in the process', by: 'in-process', rpcs: ALL_RPCS },
] as const)('a call that is made $how:', ({ by, rpcs }) => {
  beforeAll(() => {
    way = by;
    hot = rpcs;
  });

  describe('the end of a call', () => {
    test('a response arrives complete, with 64-bit amounts and instants', async () => {
      const seen: unknown[] = [];
      const { port } = await serve({
        deposit: async (request, { requestId }) => {
          seen.push(request, requestId);
          return { balanceCents: request.amountCents + 1n, postedBefore: true };
        },
        putPlayerLink: async (_, { requestId }) => {
          seen.push(requestId);
          return { createdAt: new Date('2026-10-01T10:20:30.456Z'), accountId: 'x' };
        },
      });
      const wallet = connect(port);
      const deposit = { accountId: 'x', environment: Environment.TEST, amountCents: 2n ** 62n, reference: 'r' };
      expect(await wallet.deposit(deposit, { requestId: 'req-1' })).toEqual({
        balanceCents: 2n ** 62n + 1n,
        postedBefore: true,
      });
      expect(await wallet.putPlayerLink({ player: undefined, email: 'e' })).toEqual({
        createdAt: new Date('2026-10-01T10:20:30.456Z'),
        accountId: 'x',
      });
      expect(seen).toEqual([deposit, 'req-1', undefined]);
    });

    test('every refusal arrives unchanged', async () => {
      const { port } = await serve({
        denyPayout: async ({ awardId }) => refused(awardId as ApiErrorCode, `no: „${awardId}“`),
        releasePayout: async ({ awardId }) => refused(awardId as ApiErrorCode),
      });
      const wallet = connect(port);
      for (const code of Object.keys(HTTP_STATUS) as ApiErrorCode[]) {
        expect(await wallet.denyPayout({ awardId: code })).toEqual(refused(code, `no: „${code}“`));
        expect(await wallet.releasePayout({ awardId: code })).toEqual(refused(code));
      }
    });

    test('a refusal with a code that the caller does not know is a failed call', async () => {
      const { port } = await serve({
        denyPayout: async () => ({ ...refused('blocked'), code: 'unheard_of' as ApiErrorCode }),
      });
      const error = await failureOf(connect(port).denyPayout(deny));
      expect(error).toMatchObject({ code: status.FAILED_PRECONDITION, definite: false });
    });

    test('an error of a handler is logged at the server and hidden from the caller', async () => {
      const bug = new Error('relation "accounts" does not exist');
      const { port } = await serve({ audit: () => Promise.reject(bug) });
      const error = await failureOf(connect(port).audit({}));
      expect(error).toMatchObject({ name: 'CallFailedError', code: status.INTERNAL, definite: false });
      expect(`${error.message} ${JSON.stringify(error.cause)} ${String(error.cause)}`).not.toContain('accounts');
      expect(logged).toEqual([
        { fields: { err: bug, rpc: '/laurel.wallet.v1.WalletService/Audit' }, message: 'call failed' },
      ]);
    });

    test('a response that does not fit its message is logged and hidden from the caller', async () => {
      const { port } = await serve({
        deposit: async () => ({ balanceCents: 'secret' as unknown as bigint, postedBefore: false }),
      });
      const request = { accountId: 'x', environment: Environment.TEST, amountCents: 1n, reference: 'r' };
      const error = await failureOf(connect(port).deposit(request));
      expect(error).toMatchObject({ code: status.INTERNAL, definite: false });
      expect(String(error.cause)).not.toContain('secret');
      expect(logged).toEqual([expect.objectContaining({ message: 'response could not be encoded' })]);
    });

    test('a call of an rpc that the server does not serve fails without effect', async () => {
      const { port } = await fixture.serveNothing();
      expect(await failureOf(connect(port).audit({}))).toMatchObject({ code: status.UNIMPLEMENTED, definite: true });
    });

    test('an idempotent call is sent once more after a lost reply', async () => {
      const seen: string[] = [];
      const { port } = await serve({
        denyPayout: async ({ awardId }) => {
          seen.push(awardId);
          if (awardId === 'always' || seen.length === 1) throw new LostReplyError();
          return { payout: undefined };
        },
      });
      const wallet = connect(port);
      expect(await wallet.denyPayout(deny, { retryLostReply: true })).toEqual({ payout: undefined });
      expect(seen).toEqual(['a', 'a']);

      const unasked = await failureOf(wallet.denyPayout({ awardId: 'always' }));
      const asked = await failureOf(connect(port, { retryLostReply: true }).denyPayout({ awardId: 'always' }));
      expect([unasked, asked]).toEqual([
        expect.objectContaining({ code: status.UNAVAILABLE, definite: false }),
        expect.objectContaining({ code: status.UNAVAILABLE, definite: false }),
      ]);
      expect(seen.slice(2)).toEqual(['always', 'always', 'always']);
      expect(logged).toEqual([]);
    });

    test('a call past its deadline fails at the caller and is cancelled at the server', async () => {
      const aborted = Promise.withResolvers<void>();
      const { port } = await serve({
        audit: async (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.resolve());
          await aborted.promise;
          return { checks: [] };
        },
      });
      const error = await failureOf(connect(port, { deadlineMs: 50 }).audit({}));
      expect(error).toMatchObject({ code: status.DEADLINE_EXCEEDED, definite: false });
      await aborted.promise;
    });

    test('a caller that aborts cancels its call, before or after it was sent', async () => {
      const entered = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      const { port } = await serve({
        audit: async (_, { signal }) => {
          entered.resolve();
          await once(signal, 'abort');
          aborted.resolve();
          return { checks: [] };
        },
      });
      const wallet = connect(port);
      expect(await failureOf(wallet.audit({}, { signal: AbortSignal.abort() }))).toMatchObject({
        code: status.CANCELLED,
      });
      const controller = new AbortController();
      const call = failureOf(wallet.audit({}, { signal: controller.signal }));
      await entered.promise;
      controller.abort();
      expect(await call).toMatchObject({ code: status.CANCELLED, definite: false });
      await aborted.promise;
    });
  });

  describe('the breaker', () => {
    const breaker = { volumeThreshold: 5, resetTimeoutMs: 50 };

    test('the breaker opens when the service cannot be reached and closes after a successful probe', async () => {
      const port = await fixture.findFreePort();
      const wallet = connect(port, { breaker });
      const errors: CallFailedError[] = [];
      while (!(errors.at(-1) instanceof UnavailableError)) errors.push(await failureOf(wallet.audit({})));
      expect(errors.length).toBeGreaterThanOrEqual(breaker.volumeThreshold);
      expect(errors[0]).toMatchObject({ code: status.UNAVAILABLE, definite: false });
      expect(errors.at(-1)).toMatchObject({ code: status.UNAVAILABLE, definite: true, name: 'UnavailableError' });
      expect(await metrics.metrics()).toMatch(/laurel_breaker_open\{client="wallet"[^}]*\} 1/);

      let served = 0;
      await serve(
        {
          audit: async () => {
            served += 1;
            if (served === 3) throw new LostReplyError();
            return { checks: [] };
          },
        },
        port,
      );
      await expect
        .poll(() => wallet.audit({}).catch((error: unknown) => error), { interval: 20 })
        .toEqual({ checks: [] });
      expect(await metrics.metrics()).toMatch(/laurel_breaker_open\{client="wallet"[^}]*\} 0/);

      // The breaker discarded the failures that opened it: one more does not open it again.
      expect(await wallet.audit({})).toEqual({ checks: [] });
      expect(await failureOf(wallet.audit({}))).not.toBeInstanceOf(UnavailableError);
      expect(await wallet.audit({})).toEqual({ checks: [] });
    });

    test('the breaker opens when calls miss their deadline', async () => {
      const { port } = await serve({ audit: () => new Promise(() => undefined) });
      const wallet = connect(port, { breaker: { ...breaker, resetTimeoutMs: 10_000 }, deadlineMs: 30 });
      await Promise.all(Array.from({ length: 10 }, () => failureOf(wallet.audit({}))));
      expect(await failureOf(wallet.audit({}))).toBeInstanceOf(UnavailableError);
    });

    test('the breaker stays closed after refusals, errors of a handler and aborted calls', async () => {
      const { port } = await serve({
        denyPayout: async () => refused('not_found'),
        audit: () => Promise.reject(new Error('bug')),
      });
      const wallet = connect(port, { breaker });
      for (let round = 0; round < 20; round += 1) {
        expect(await wallet.denyPayout(deny)).toEqual(refused('not_found'));
        expect(await failureOf(wallet.audit({}))).not.toBeInstanceOf(UnavailableError);
        expect(await failureOf(wallet.audit({}, { signal: AbortSignal.abort() }))).toMatchObject({
          code: status.CANCELLED,
        });
      }
    });
  });

  describe('the life of a server', () => {
    test('a stopping server completes the call that is under way', async () => {
      const entered = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const server = await serve({
        audit: async () => {
          entered.resolve();
          await release.promise;
          return { checks: [] };
        },
      });
      const call = connect(server.port).audit({});
      await entered.promise;
      const stopped = server[Symbol.asyncDispose]();
      expect(await failureOf(connect(server.port).audit({}))).toMatchObject({ code: status.UNAVAILABLE });
      release.resolve();
      expect(await call).toEqual({ checks: [] });
      await stopped;
      expect(logged).toEqual([]);
    });

    test('a stopping server cuts off a call that does not complete in time', async () => {
      const entered = Promise.withResolvers<void>();
      const audit = () => {
        entered.resolve();
        return new Promise<never>(() => undefined);
      };
      const server = await serve({ audit }, 0, 50);
      const call = failureOf(connect(server.port).audit({}));
      await entered.promise;
      await server[Symbol.asyncDispose]();
      expect(await call).toMatchObject({ definite: false });
      expect(logged).toEqual([{ fields: { limitMs: 50 }, message: 'calls still in flight are cut off' }]);
    });

    test('a client reconnects to a server that restarted on the same port', async () => {
      const handlers: Partial<WalletHandlers> = { audit: async () => ({ checks: [] }) };
      const first = await serve(handlers);
      const wallet = connect(first.port);
      expect(await wallet.audit({})).toEqual({ checks: [] });
      await first[Symbol.asyncDispose]();
      expect(await failureOf(wallet.audit({}))).toMatchObject({ code: status.UNAVAILABLE });

      await serve(handlers, first.port);
      const startedAt = performance.now();
      await expect
        .poll(() => wallet.audit({}).catch((error: unknown) => error), { interval: 10 })
        .toEqual({ checks: [] });
      expect(performance.now() - startedAt).toBeLessThan(1_500);
    });
  });
});

// A server in the same process cannot restart alone.
describe.each([
  { how: 'unary', rpcs: [] },
  { how: 'over the multiplexer', rpcs: ALL_RPCS },
])('a call that may be repeated, made $how,', ({ rpcs }) => {
  beforeAll(() => {
    way = 'gRPC';
    hot = rpcs;
  });

  test('waits for a server that restarts', async () => {
    const handlers: Partial<WalletHandlers> = { denyPayout: async () => ({ payout: undefined }) };
    const first = await serve(handlers);
    const wallet = connect(first.port);
    expect(await wallet.denyPayout(deny)).toEqual({ payout: undefined });
    await first[Symbol.asyncDispose]();

    const repeatable = wallet.denyPayout(deny, { retryLostReply: true });
    expect(await failureOf(wallet.denyPayout(deny))).toMatchObject({ code: status.UNAVAILABLE });
    await serve(handlers, first.port);
    expect(await repeatable).toEqual({ payout: undefined });
  });

  test('waits no longer than its deadline', async () => {
    const wallet = connect(await fixture.findFreePort());
    const startedAt = performance.now();
    const error = await failureOf(wallet.denyPayout(deny, { retryLostReply: true, deadlineMs: 200 }));
    expect(error.code).toBe(status.UNAVAILABLE);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test('does not wait if it is to be repeated immediately', async () => {
    const wallet = connect(await fixture.findFreePort());
    const startedAt = performance.now();
    const error = await failureOf(wallet.denyPayout(deny, { retryLostReply: 'immediately' }));
    expect(error.code).toBe(status.UNAVAILABLE);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test('waits no longer than its caller', async () => {
    const wallet = connect(await fixture.findFreePort());
    const caller = new AbortController();
    const call = failureOf(wallet.denyPayout(deny, { retryLostReply: true, signal: caller.signal }));
    expect(await failureOf(wallet.denyPayout(deny))).toMatchObject({ code: status.UNAVAILABLE });
    const startedAt = performance.now();
    caller.abort();
    expect((await call).code).toBe(status.UNAVAILABLE);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('the health service', () => {
  beforeAll(() => {
    way = 'gRPC';
  });
  const HealthClient = makeGenericClientConstructor(healthService, 'Health');

  test('health answers SERVING until the server sets another status', async () => {
    const server = await serve({});
    const health = new HealthClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    stack.defer(() => health.close());
    const check = () =>
      new Promise((resolve, reject) =>
        // biome-ignore lint/complexity/useLiteralKeys: the rpc is only known at run time.
        health['check']?.({ service: '' }, (error: unknown, answer: unknown) =>
          error ? reject(error) : resolve(answer),
        ),
      );
    expect(await check()).toEqual({ status: 'SERVING' });
    server.setServing(false);
    expect(await check()).toEqual({ status: 'NOT_SERVING' });
    server.setServing(true);
    expect(await check()).toEqual({ status: 'SERVING' });
  });

  test('health knows only the server as a whole', async () => {
    const server = await serve({});
    const health = new HealthClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    stack.defer(() => health.close());
    const ask = (rpc: 'check' | 'list', request: object) =>
      new Promise((resolve, reject) =>
        health[rpc]?.(request, (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer))),
      );
    await expect(ask('check', { service: 'laurel.wallet.v1.WalletService' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
    expect(await ask('list', {})).toEqual({ statuses: { '': { status: 'SERVING' } } });
    // biome-ignore lint/complexity/useLiteralKeys: the rpc is only known at run time.
    const watch = health['watch']?.({ service: 'any' }, new Metadata()) as unknown as ClientReadableStream<unknown>;
    watch.on('error', () => undefined);
    expect(await once(watch, 'data')).toEqual([{ status: 'SERVICE_UNKNOWN' }]);
    watch.cancel();
  });

  test('a stopping server answers NOT_SERVING before it completes the call under way', async () => {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const server = await serve({
      audit: async () => {
        entered.resolve();
        await release.promise;
        return { checks: [] };
      },
    });
    const wallet = connect(server.port);
    const health = new HealthClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    stack.defer(() => health.close());
    // biome-ignore lint/complexity/useLiteralKeys: the rpc is only known at run time.
    const watch = health['watch']?.({ service: '' }, new Metadata()) as unknown as ClientReadableStream<unknown>;
    watch.on('error', () => undefined);
    expect(await once(watch, 'data')).toEqual([{ status: 'SERVING' }]);

    const call = wallet.audit({});
    await entered.promise;
    const notServing = once(watch, 'data');
    const stopped = server[Symbol.asyncDispose]();
    expect(await notServing).toEqual([{ status: 'NOT_SERVING' }]);
    watch.cancel();
    expect(await failureOf(connect(server.port).audit({}))).toMatchObject({ code: status.UNAVAILABLE });

    release.resolve();
    expect(await call).toEqual({ checks: [] });
    await stopped;
    expect(logged).toEqual([]);
  });
});

describe.each(['gRPC', 'in-process'] as const)('a coalesced call, %s,', (by) => {
  beforeAll(() => {
    way = by;
  });

  test('concurrent requests share a coalesced call, and each gets its own answer', async () => {
    const batches: string[][] = [];
    const { port } = await serve({
      resolveFees: async ({ queries }) => {
        batches.push(queries.map((each) => each.transferId));
        return { resolutions: queries.map((each) => ({ state: 1, refusalCode: `for ${each.transferId}` })) };
      },
    });
    const wallet = connect(port);
    const coalescer = createCoalescedCall({
      name: `test_resolve_${by}`,
      maxItems: 40,
      call: async (queries: readonly ReturnType<typeof query>[]) =>
        respond(await wallet.resolveFees({ queries: [...queries] })).resolutions,
    });
    const ids = Array.from({ length: 100 }, (_, index) => `t${index}`);
    const answers = await Promise.all(ids.map((id) => coalescer.submit(query(id))));
    expect(answers.map((answer) => answer.refusalCode)).toEqual(ids.map((id) => `for ${id}`));
    expect(batches.flat()).toEqual(ids);
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(40);
    const page = await metrics.metrics();
    expect(page).toMatch(new RegExp(`laurel_coalesced_call_items_sum\\{[^}]*call="test_resolve_${by}"[^}]*\\} 100`));
  });

  test('a coalesced call fails after a second lost reply', async () => {
    const batches: string[][] = [];
    let losses = 1;
    const { port } = await serve({
      resolveFees: async ({ queries }) => {
        batches.push(queries.map((each) => each.transferId));
        losses -= 1;
        if (losses >= 0) throw new LostReplyError();
        return { resolutions: queries.map(() => ({ state: 1, refusalCode: '' })) };
      },
    });
    const wallet = connect(port, { retryLostReply: true });
    const coalescer = createCoalescedCall({
      name: 'test_retry',
      call: async (queries: readonly ReturnType<typeof query>[]) =>
        respond(await wallet.resolveFees({ queries: [...queries] })).resolutions,
    });
    const answer = { state: 1, refusalCode: '' };
    expect(await Promise.all([coalescer.submit(query('a')), coalescer.submit(query('b'))])).toEqual([answer, answer]);
    expect(batches.splice(0)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);

    losses = 2;
    const errors = await Promise.all([
      failureOf(coalescer.submit(query('c'))),
      failureOf(coalescer.submit(query('d'))),
    ]);
    expect(errors.map((error) => error.code)).toEqual([status.UNAVAILABLE, status.UNAVAILABLE]);
    expect(batches).toEqual([
      ['c', 'd'],
      ['c', 'd'],
    ]);
  });
});
