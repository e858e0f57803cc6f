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
import { createFrameWriter } from './frame-writer.ts';
import { MultiplexedStream } from './multiplexer-client.ts';
import { createMultiplexerServer } from './multiplexer-server.ts';
import { createWalletFixture, failureOf, respond, type WalletHandlers } from './wallet.fixture.ts';
import { MAX_MESSAGE_BYTES } from './wire.ts';

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack);
});
afterEach(() => stack.disposeAsync());

/**
 * Returns a call that resolves one player at the wallet and returns the account id in the response.
 * It uses the multiplexer unless the options differ.
 */
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

test('calls of one stream run concurrently and complete in any order', async () => {
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

test('retryable calls of a broken connection are sent again over a new one', async () => {
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

test('a stream that is renewed at every call loses no call', async () => {
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
  // The client connects to both, then calls.
  await expect
    .poll(async () => [await resolve('x'), Math.min(...served) > 0], { interval: 5, timeout: 10_000 })
    .toEqual(['x', true]);
  expect(await Promise.all(refs(50).map((ref) => resolve(ref)))).toEqual(refs(50));
});

test('every call is answered while the replica that has the stream drains', async () => {
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

test('a stopping server answers the calls that were already sent to it', async () => {
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

test('each multiplexed call has its own deadline, whichever was set first', async () => {
  const open = Promise.withResolvers<void>();
  const { port } = await fixture.serve(
    echo(async (ref) => {
      await open.promise;
      return ref;
    }),
  );
  const resolve = connect(port);
  const slow = resolve('slow', { deadlineMs: 10_000 });
  const hasty = [20, 40].map((deadlineMs) => failureOf(resolve('hasty', { deadlineMs })));
  for (const call of hasty) expect(await call).toMatchObject({ code: status.DEADLINE_EXCEEDED, definite: false });
  expect(await failureOf(resolve('too late', { deadlineMs: 0 }))).toMatchObject({ code: status.DEADLINE_EXCEEDED });
  open.resolve();
  expect(await slow).toBe('slow');
});

test('a multiplexed call that is too large for a message fails alone', async () => {
  const { port } = await fixture.serve(echo(async (ref) => (ref === 'grow' ? 'x'.repeat(MAX_MESSAGE_BYTES) : ref)));
  const resolve = connect(port);
  const [small, request, response] = await Promise.all([
    resolve('small'),
    failureOf(resolve('x'.repeat(MAX_MESSAGE_BYTES))),
    failureOf(resolve('grow')),
  ]);
  expect([small, request.code, response.code]).toEqual(['small', status.RESOURCE_EXHAUSTED, status.RESOURCE_EXHAUSTED]);
});

test('a malformed request fails with a status and leaves the stream open', async () => {
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

test('an unreadable answer fails its call', async () => {
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
            : [answerTo(99, 'to no call'), answerTo(id, 'first'), answerTo(id, 'second')],
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

test('a caller that gives two running calls the same id loses its stream', async () => {
  const { port } = await fixture.serve(echo(() => new Promise(() => undefined)));
  const channel = new ExchangeServiceClient(`127.0.0.1:${port}`, credentials.createInsecure());
  stack.defer(() => channel.close());
  const stream = channel.exchange();
  const { path, requestSerialize } = WalletServiceService.resolvePlayers;
  const request = requestSerialize({ players: [{ tenant: undefined, playerRef: 'one' }] });
  const call = { id: 1, path, request, traceparent: '' };
  stream.on('data', () => undefined);
  const failed = once(stream, 'error');
  stream.write({ calls: [call, call], cancelledCallIds: [] });
  expect(await failed).toMatchObject([{ code: status.INTERNAL, details: 'two running calls of a stream have one id' }]);
});

test('a retiring stream accepts no more calls', () => {
  const ends: string[] = [];
  const wire = Object.assign(new EventEmitter(), {
    writableEnded: false,
    write: () => true,
    end() {
      this.writableEnded = true;
      ends.push('end');
    },
  });
  const stream = new MultiplexedStream({ makeBidiStreamRequest: () => wire } as never);
  const call = { method: WalletServiceService.resolvePlayers, deadlineAt: Date.now() + 1_000 } as never;
  stream.retire();
  stream.retire();
  expect(() => stream.send(Buffer.alloc(0), call)).toThrow('a stream that is retiring takes no call 1');
  wire.emit('end');
  expect(() => stream.send(Buffer.alloc(0), call)).toThrow('a stream that is ended takes no call 1');
  expect(ends).toEqual(['end']);
});

test('a frame holds the items of one turn, and an item above the size limit gets a frame of its own', async () => {
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

  expect(() => written.at(-1)?.onWritten()).toThrow('a frame writer that is idle was treated as writing');

  writer.push(6);
  writer.flush();
  writer.stop();
  writer.push(7);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(written.at(-1)?.items).toEqual([6]);
});

test('a server that goes away writes nothing to a stream that has ended', async () => {
  const calls: string[] = [];
  const stream = Object.assign(new EventEmitter(), {
    sendMetadata: () => undefined,
    write: () => void calls.push('write'),
    end: () => void calls.push('end'),
  });
  const server = createMultiplexerServer(new Map());
  server.implementation.exchange(stream as never);
  stream.emit('end');
  server.goAway();
  await new Promise((resolve) => void setImmediate(resolve));
  expect(calls).toEqual(['end']);
});

/** A connection to a server that a test can cut. */
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
