import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startGrpcServer } from '@laurel/grpc';
import { createLogger } from '@laurel/service';
import { afterAll, expect, test } from 'vitest';
import { connectHealth } from './health.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

test('health checks reach a healthy replica although another replica’s node has vanished', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const serve = async () => stack.use(await startGrpcServer({ host: '127.0.0.1', port: 0, services: [], logger }));
  const [one, other] = [await serve(), await serve()];
  const line = await startLine(one.port);
  const address = `ipv4:127.0.0.1:${line.port},127.0.0.1:${other.port}`;
  const health = stack.use(connectHealth('wallet', address, {}));

  // The client is connected to both servers.
  await expect.poll(async () => [await health.isServing(), line.isUsed()]).toEqual([true, true]);
  await expect.poll(async () => [await health.isServing(), await health.isServing()]).toEqual([true, true]);
  line.vanish();
  const checks = await Promise.all(Array.from({ length: 4 }, () => health.isServing()));
  expect(checks).toContain(true);
});

/**
 * A connection to a server that a test can cut off: both ends stay open, as if the machine were
 * gone, and nothing passes any more.
 */
async function startLine(serverPort: number) {
  const sockets: Socket[] = [];
  const line = createServer((socket) => {
    const onward = connect(serverPort, '127.0.0.1');
    sockets.push(socket, onward);
    for (const end of [socket, onward]) end.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
    line.close();
  });
  return {
    port: (line.address() as AddressInfo).port,
    isUsed: () => sockets.length > 0,
    vanish() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
