import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { verifyRunningRole } from './running-role.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(async () => {
  await scratch[Symbol.asyncDispose]();
});

function open(url: string) {
  return createDatabase({ url, maxConnections: 2, applicationName: 'pooler-test' });
}

const ONE = { text: 'select 1 as one' };
const REFUSED = {
  name: 'PoolerError',
  message: expect.stringMatching(/a connection pooler .*give the service the address of PostgreSQL itself/),
};

test('PostgreSQL itself is accepted, directly and behind a proxy that only forwards bytes', async () => {
  await using passing = await listen((near) => passOn(near, (bytes) => bytes));
  for (const url of [scratch.url, passing.url]) {
    await using database = open(url);
    expect(await database.query(ONE)).toEqual([{ one: 1 }]);
  }
});

describe('a pooler that answers the startup itself', () => {
  test('every caller is refused when a database is first used behind a pooler that answers the startup itself', async () => {
    await using pooler = await listen((near) => passOn(near, withOtherBackend));
    await using database = open(pooler.url);
    const asked = await Promise.allSettled([database.query(ONE), database.query(ONE), database.query(ONE)]);
    for (const { status, reason } of asked.map((one) => ({ reason: undefined, ...one }))) {
      expect({ status, reason }).toEqual({ status: 'rejected', reason: expect.objectContaining(REFUSED) });
    }
    await expect(database.isReachable()).resolves.toBe(false);
  });

  test('a service does not start behind a pooler that answers the startup itself', async () => {
    await using pooler = await listen((near) => passOn(near, withOtherBackend));
    await using database = open(pooler.url);
    const options = { isPrivilegedAllowed: true, logger: { warn: () => {} } };
    await expect(verifyRunningRole(database, options)).rejects.toMatchObject(REFUSED);
  });

  test('a migration refuses a pooler that answers the startup itself', async () => {
    await using pooler = await listen((near) => passOn(near, withOtherBackend));
    const migrated = migrate({ url: pooler.url, directory: import.meta.dirname });
    await expect(migrated).rejects.toMatchObject(REFUSED);
  });
});

test('a pooler that refuses the settings of a startup does not count as an unreachable database', async () => {
  await using pooler = await listen((near) => near.once('data', () => near.end(STARTUP_REFUSED)));
  await using database = open(pooler.url);
  await expect(database.query(ONE)).rejects.toMatchObject({
    name: 'PoolerError',
    message: expect.stringContaining('unsupported startup parameter in options: plan_cache_mode'),
  });
});

/** PgBouncer's message. */
const STARTUP_REFUSED = message(
  'E',
  'SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter in options: plan_cache_mode\0\0',
);

function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** The first bytes of BackendKeyData: a 'K' and the length 12. The process and a secret follow. */
const BACKEND_KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

/** The server's bytes, with another process in BackendKeyData. */
function withOtherBackend(bytes: Buffer): Buffer {
  const index = bytes.indexOf(BACKEND_KEY_DATA);
  if (index >= 0) bytes.writeInt32BE(-7, index + BACKEND_KEY_DATA.length);
  return bytes;
}

function passOn(near: Socket, change: (bytes: Buffer) => Buffer): void {
  const { hostname, port } = new URL(scratch.url);
  const far = dial(Number(port), hostname);
  near.on('data', (bytes) => far.write(bytes));
  far.on('data', (bytes) => near.write(change(bytes)));
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('close', () => other.destroy());
    one.on('error', () => other.destroy());
  }
}

async function listen(serve: (near: Socket) => void): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    sockets.add(near);
    serve(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const url = new URL(scratch.url);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
