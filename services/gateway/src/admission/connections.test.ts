import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connectionsByDescriptors, limitConnections } from './connections.ts';

const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanup.splice(0)) end();
});

/** A server with short limits, and a caller of it. */
async function start(listener: RequestListener, limits: { bodyStallMs?: number; answerStallMs?: number }) {
  const server = createServer();
  const aborted: Socket[] = [];
  const connections = limitConnections(server, {
    maxConnections: 10,
    maxPerAddress: 10,
    isProxy: () => false,
    abort: (socket) => {
      aborted.push(socket);
      socket.destroy();
    },
    ...limits,
  });
  server.on('request', (request, response) => {
    if (connections.begin(request, response, () => true)) listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  cleanup.push(() => {
    caller.destroy();
    connections[Symbol.dispose]();
    server.close();
  });
  return { caller, aborted, closed: once(caller, 'close') };
}

test('a body that stalls is aborted', async () => {
  const { caller, aborted, closed } = await start((request) => void request.resume(), { bodyStallMs: 50 });
  caller.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf');
  await closed;
  expect(aborted).toHaveLength(1);
});

test('a route may take as long as it needs once the body has arrived', async () => {
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
  let timeoutMs: () => number | undefined = () => undefined;
  const { caller, aborted } = await start(
    async (request, response) => {
      timeoutMs = () => request.socket.timeout;
      await isDone;
      response.end('at last');
    },
    { bodyStallMs: 5_000 },
  );
  caller.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n');
  await expect.poll(() => timeoutMs(), { timeout: 4_000 }).toBe(5_000);
  caller.write('body');
  await expect.poll(() => timeoutMs(), { timeout: 4_000 }).toBe(0);
  done();
  const [answer] = await once(caller, 'data');
  expect(String(answer)).toContain('at last');
  expect(aborted).toEqual([]);
});

test('a response that its caller does not read is aborted', async () => {
  const { promise: isOver, resolve: over } = Promise.withResolvers<boolean>();
  const { caller } = await start(
    (_request, response) => {
      response.on('close', () => over(response.writableFinished));
      response.end(Buffer.alloc(64 * 1024 * 1024));
    },
    { answerStallMs: 50 },
  );
  caller.pause();
  caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await isOver).toBe(false);
});

test('the limit of connections leaves descriptors for the process’s other files', () => {
  const limits = (soft: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   4096    files\n`;
  expect(connectionsByDescriptors(limits('1024'))).toBe(896);
  expect(connectionsByDescriptors(limits('64'))).toBe(1);
  expect(connectionsByDescriptors(limits('unlimited'))).toBe(Number.MAX_SAFE_INTEGER);
  expect(connectionsByDescriptors(null)).toBe(Number.MAX_SAFE_INTEGER);
  expect(connectionsByDescriptors()).toBeGreaterThan(0);
});
