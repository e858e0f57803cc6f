import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { credentials, Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { WalletServiceService } from '@laurel/proto/wallet';
import {
  type Answer,
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceClient,
  ExchangeServiceService,
} from '@laurel/proto/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallOptions } from './client.ts';
import { createExchangeServer } from './exchange-server.ts';
import { createFrameWriter } from './frame-writer.ts';
import { createWalletFixture, failureOf, respond, type WalletHandlers } from './wallet.fixture.ts';
import { MAX_MESSAGE_BYTES } from './wire.ts';

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack);
});
afterEach(() => stack.disposeAsync());

/** Asks the wallet for one player, over the exchange unless the options say otherwise; the answer is what `echo` made of the ref. */
function connect(target: number | string, options: Parameters<typeof fixture.connect>[1] = {}) {
  const client = fixture.connect(target, { hot: ['resolvePlayers'], ...options });
  return async (playerRef: string, callOptions?: CallOptions) =>
    respond(await client.resolvePlayers({ players: [{ tenant: undefined, playerRef }] }, callOptions)).accountIds[0];
}

function echo(answer: (ref: string) => Promise<string>): Partial<WalletHandlers> {
  return {
    resolvePlayers: async ({ players }) => ({
      accountIds: await Promise.all(players.map((each) => answer(each.playerRef))),
    }),
  };
}

const refs = (count: number) => Array.from({ length: count }, (_, index) => `ref-${index}`);

test('calls of one stream run at the same time, and each gets its own answer in whatever order they end', async () => {
  const open = new Map<string, () => void>();
  const { port } = await fixture.serve(
    echo(async (ref) => {
      await new Promise<void>((resolve) => void open.set(ref, resolve));
      return `account of ${ref}`;
    }),
  );
  const resolve = connect(port);
  const order: string[] = [];
  const calls = refs(20).map(async (ref) => {
    const answer = await resolve(ref);
    order.push(ref);
    return answer;
  });
  await expect.poll(() => open.size, { interval: 1, timeout: 10_000 }).toBe(20);
  const reversed = refs(20).reverse();
  for (const ref of reversed) open.get(ref)?.();
  expect(await Promise.all(calls)).toEqual(refs(20).map((ref) => `account of ${ref}`));
  expect(order).toEqual(reversed);
});

test('when the connection breaks, its calls fail as unavailable, and what may be sent again is sent over a new one', async () => {
  const entered: string[] = [];
  const server = await fixture.serve(
    echo((ref) => {
      entered.push(ref);
      return entered.length <= 3 ? new Promise(() => undefined) : Promise.resolve(ref);
    }),
  );
  const line = await startLine(server.port);
  const resolve = connect(line.port);
  const unasked = [failureOf(resolve('a')), failureOf(resolve('b'))];
  const asked = resolve('c', { retryLostReply: true });
  await expect.poll(() => entered.length, { interval: 1, timeout: 10_000 }).toBe(3);
  line.cut();
  for (const call of unasked) expect(await call).toMatchObject({ code: status.UNAVAILABLE, definite: false });
  expect(await asked).toBe('c');
  expect(entered).toEqual(['a', 'b', 'c', 'c']);
});

test('a stream that is renewed at every call loses none, and its calls reach every replica', async () => {
  const served = [0, 0];
  const [one, other] = await Promise.all(
    [0, 1].map((replica) =>
      fixture.serve(
        echo(async (ref) => {
          served[replica] = (served[replica] ?? 0) + 1;
          return ref;
        }),
      ),
    ),
  );
  const resolve = connect(`ipv4:127.0.0.1:${one?.port},127.0.0.1:${other?.port}`, { renewStreamAfterMs: 0 });
  // Connects to both, then calls.
  await expect
    .poll(async () => [await resolve('x'), Math.min(...served) > 0], { interval: 5, timeout: 10_000 })
    .toEqual(['x', true]);
  expect(await Promise.all(refs(50).map((ref) => resolve(ref)))).toEqual(refs(50));
});

test('while the replica that has the stream drains, every call is answered, by it or by the other', async () => {
  const served = [0, 0];
  const servers = await Promise.all(
    served.map((_, replica) =>
      fixture.serve(
        echo(async (ref) => {
          served[replica] = (served[replica] ?? 0) + 1;
          await new Promise((resolve) => void setImmediate(resolve));
          return ref;
        }),
      ),
    ),
  );
  const resolve = connect(`ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join()}`);
  await resolve('warm');
  const first = served.indexOf(1);
  let isDone = false;
  const callers = refs(8).map(async (ref) => {
    while (!isDone) expect(await resolve(ref)).toBe(ref);
  });
  await expect.poll(() => served[first], { interval: 1, timeout: 10_000 }).toBeGreaterThan(50);
  await servers[first]?.[Symbol.asyncDispose]();
  await expect.poll(() => served[1 - first], { interval: 1, timeout: 10_000 }).toBeGreaterThan(50);
  isDone = true;
  await Promise.all(callers);
});

test('a server that stops answers the calls that were on their way to it, and then ends at once', async () => {
  const release = Promise.withResolvers<void>();
  const server = await fixture.serve(
    echo(async (ref) => {
      if (ref !== 'first') await release.promise;
      return ref;
    }),
  );
  const resolve = connect(server.port);
  await resolve('first');
  const calls = refs(10).map((ref) => resolve(ref));
  const stopped = server[Symbol.asyncDispose]();
  calls.push(resolve('last'));
  release.resolve();
  expect(await Promise.all(calls)).toEqual([...refs(10), 'last']);
  await stopped;
  expect(await failureOf(resolve('late'))).toMatchObject({ code: status.UNAVAILABLE });
  expect(fixture.logged).toEqual([]);
});

test('each call has its own deadline, whichever was set first', async () => {
  const open = Promise.withResolvers<void>();
  const { port } = await fixture.serve(
    echo(async (ref) => {
      await open.promise;
      return ref;
    }),
  );
  const resolve = connect(port);
  const patient = resolve('patient', { deadlineMs: 10_000 });
  const hasty = [20, 40].map((deadlineMs) => failureOf(resolve('hasty', { deadlineMs })));
  for (const call of hasty) expect(await call).toMatchObject({ code: status.DEADLINE_EXCEEDED, definite: false });
  expect(await failureOf(resolve('too late', { deadlineMs: 0 }))).toMatchObject({ code: status.DEADLINE_EXCEEDED });
  open.resolve();
  expect(await patient).toBe('patient');
});

test('what is too large for a message fails alone', async () => {
  const { port } = await fixture.serve(echo(async (ref) => (ref === 'grow' ? 'x'.repeat(MAX_MESSAGE_BYTES) : ref)));
  const resolve = connect(port);
  const [small, request, response] = await Promise.all([
    resolve('small'),
    failureOf(resolve('x'.repeat(MAX_MESSAGE_BYTES))),
    failureOf(resolve('grow')),
  ]);
  expect([small, request.code, response.code]).toEqual(['small', status.RESOURCE_EXHAUSTED, status.RESOURCE_EXHAUSTED]);
});

test('an rpc that is not served and a request that is none end with a status, and the stream goes on', async () => {
  const { port } = await fixture.serve(echo(async (ref) => ref));
  const channel = new ExchangeServiceClient(`127.0.0.1:${port}`, credentials.createInsecure());
  stack.defer(() => channel.close());
  const stream = channel.exchange();
  const { path, requestSerialize } = WalletServiceService.resolvePlayers;
  const request = requestSerialize({ players: [{ tenant: undefined, playerRef: 'fine' }] });
  const traceparent = '';
  stream.write({
    calls: [
      { id: 1, path: '/laurel.wallet.v1.WalletService/Unheard', request, traceparent },
      { id: 2, path, request: Buffer.from('ff', 'hex'), traceparent },
      { id: 3, path, request, traceparent },
    ],
    cancelledCallIds: [99],
  });
  const answers = new Map<number, unknown>();
  while (answers.size < 3) {
    const [response]: ExchangeResponse[] = await once(stream, 'data');
    for (const { id, result } of response?.answers ?? [])
      answers.set(id, result?.$case === 'failure' ? result.value.code : 'response');
  }
  expect([answers.get(1), answers.get(2), answers.get(3)]).toEqual([status.UNIMPLEMENTED, status.INTERNAL, 'response']);
  stream.end();
  await once(stream, 'status');
});

test('an answer that cannot be read fails its call, and an answer that comes again or to nobody changes nothing', async () => {
  const { path, responseSerialize } = WalletServiceService.resolvePlayers;
  const answerTo = (id: number, account: string): Answer => ({
    id,
    result: { $case: 'response', value: responseSerialize({ accountIds: [account] }) },
  });
  const unreadable = { code: status.NOT_FOUND, details: '', trailers: { 'no key\n': '' } };
  const server = new Server();
  server.addService(ExchangeServiceService, {
    exchange(stream: ServerDuplexStream<ExchangeRequest, ExchangeResponse>) {
      stream.on('data', ({ calls }: ExchangeRequest) => {
        const answers = calls.flatMap(({ id }): Answer[] =>
          id === 1
            ? [{ id, result: { $case: 'failure', value: unreadable } }]
            : [answerTo(99, 'nobody'), answerTo(id, 'first'), answerTo(id, 'second')],
        );
        stream.write({ answers, goingAway: false });
      });
    },
  });
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  stack.defer(() => server.forceShutdown());
  const resolve = connect(port);
  const [failed, answered] = await Promise.all([failureOf(resolve('a')), resolve('b')]);
  expect([failed.code, failed.message, answered]).toEqual([status.INTERNAL, `${path} failed: INTERNAL`, 'first']);
  expect(await resolve('c')).toBe('first');
});

test('a message holds what came in one turn, then what came while it was written, and not more than its size', async () => {
  const written: { items: readonly number[]; onWritten: () => void }[] = [];
  const writer = createFrameWriter<number>({
    sizeOf: (item) => item,
    write: (items, onWritten) => written.push({ items, onWritten }),
  });
  for (const item of [1, 2]) writer.push(item);
  expect(written).toEqual([]);
  await new Promise((resolve) => void setImmediate(resolve));
  for (const item of [3, 4, 2 ** 20, 2 ** 30, 5]) writer.push(item);
  for (let message = 0; message < written.length; message += 1) written[message]?.onWritten();
  expect(written.map(({ items }) => items)).toEqual([[1, 2], [3, 4], [2 ** 20], [2 ** 30], [5]]);

  writer.push(6);
  writer.flush();
  writer.stop();
  writer.push(7);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(written.at(-1)?.items).toEqual([6]);
});

test('a server that goes away writes nothing to a stream that it has ended', async () => {
  const calls: string[] = [];
  const stream = Object.assign(new EventEmitter(), {
    sendMetadata: () => undefined,
    write: () => void calls.push('write'),
    end: () => void calls.push('end'),
  });
  const server = createExchangeServer(new Map());
  (server.implementation.exchange as unknown as (served: typeof stream) => void)(stream);
  stream.emit('end');
  server.goAway();
  await new Promise((resolve) => void setImmediate(resolve));
  expect(calls).toEqual(['end']);
});

/** A line to a server that can be cut. */
async function startLine(serverPort: number) {
  const sockets = new Set<Socket>();
  const line = createServer((socket) => {
    const onward = connectSocket(serverPort, '127.0.0.1');
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => undefined);
    }
    socket.pipe(onward).pipe(socket);
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  stack.defer(() => {
    cut();
    line.close();
  });
  return { port: (line.address() as AddressInfo).port, cut };
}
