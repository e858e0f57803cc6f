import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { experimental } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWalletFixture, respond, type WalletHandlers } from './wallet.fixture.ts';
import { MAX_DEADLINE_MS } from './wire.ts';

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack);
});
afterEach(async () => {
  vi.useRealTimers();
  await stack.disposeAsync();
});

test('a server asks a connection to close after a minute, plus or minus a tenth', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { port } = await fixture.serve({});
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  stack.defer(() => session.destroy());
  let isAsked = false;
  const asked = once(session, 'goaway').then(() => {
    isAsked = true;
  });
  /**
   * When the reply to this ping has arrived, everything that the server wrote before it has arrived
   * too.
   */
  const echo = () => Promise.race([asked, new Promise((resolve) => session.ping(resolve))]);
  await once(session, 'remoteSettings');
  let ageMs = 0;
  while (!isAsked && ageMs < 66_000) {
    ageMs += 3_000;
    vi.advanceTimersByTime(3_000);
    await echo();
  }
  expect(isAsked).toBe(true);
  expect(ageMs).toBeGreaterThanOrEqual(54_000);
});

test('a call may last until its deadline, however old its connection is then', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const { port } = await fixture.serve({
    resolvePlayers: async ({ players }) => {
      if (players.length > 0) return { accountIds: [] };
      begun.resolve();
      await end.promise;
      return { accountIds: ['at the end'] };
    },
  });
  const wallet = fixture.connect(port);
  const long = wallet.resolvePlayers({ players: [] }, { deadlineMs: MAX_DEADLINE_MS });
  await begun.promise;
  const short = { players: [{ tenant: undefined, playerRef: 'ref' }] };
  for (let passedMs = 0; passedMs < MAX_DEADLINE_MS - 6_000; passedMs += 3_000) {
    vi.advanceTimersByTime(3_000);
    // Each end has read what the other one wrote before this response.
    respond(await wallet.resolvePlayers(short, { deadlineMs: MAX_DEADLINE_MS }));
  }
  end.resolve();
  expect(respond(await long).accountIds).toEqual(['at the end']);
});

test('a client accepts no deadline that a server would not wait for', async () => {
  const { port } = await fixture.serve({});
  const wallet = fixture.connect(`127.0.0.1:${port}`);
  await expect(wallet.resolvePlayers({ players: [] }, { deadlineMs: MAX_DEADLINE_MS + 1 })).rejects.toThrow(RangeError);
});

/** The ports that the next DNS lookup returns for the replicas of a service. */
let found: readonly number[] = [];
experimental.registerResolver(
  'found',
  class implements experimental.Resolver {
    readonly #listener: experimental.ResolverListener;
    constructor(_target: experimental.GrpcUri, listener: experimental.ResolverListener) {
      this.#listener = listener;
    }
    updateResolution() {
      const endpoints = found.map((port) => ({ addresses: [{ host: '127.0.0.1', port }] }));
      setImmediate(() => this.#listener(experimental.statusOrFromValue(endpoints), {}, null, ''));
    }
    destroy() {}
    static getDefaultAuthority() {
      return 'found';
    }
  },
);

test.each([
  ['unary', []],
  ['multiplexed', ['resolvePlayers']],
] as const)('a replica that joins gets its share of %s calls without a failed call', async (_way, hot) => {
  const served = [0, 0];
  const serve = async (replica: number) => {
    const handlers: Partial<WalletHandlers> = {
      resolvePlayers: async ({ players }) => {
        served[replica] = (served[replica] ?? 0) + 1;
        return { accountIds: players.map(({ playerRef }) => playerRef) };
      },
    };
    return await fixture.serve(handlers, 0, 5_000, { connectionAge: { limitMs: 500, graceMs: 5_000 } });
  };
  const [first, second] = [await serve(0), await serve(1)];
  found = [first.port];
  const wallet = fixture.connect('found:///wallet', { hot, renewStreamAfterMs: 10, retryLostReply: true });
  const call = async () => {
    const request = { players: [{ tenant: undefined, playerRef: 'ref' }] };
    expect(respond(await wallet.resolvePlayers(request)).accountIds).toEqual(['ref']);
  };

  for (let count = 0; count < 20; count += 1) await call();
  expect(served).toEqual([20, 0]);
  found = [first.port, second.port];
  await expect
    .poll(
      async () => {
        await call();
        return served[1];
      },
      { interval: 1 },
    )
    .toBeGreaterThan(20);
  const before = served[0] ?? 0;
  await expect
    .poll(
      async () => {
        await call();
        return served[0];
      },
      { interval: 1 },
    )
    .toBeGreaterThan(before);
});
