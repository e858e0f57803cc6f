import { createServer, connect as dial, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SessionPool } from './pool.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';
import type { Session } from './session.ts';
import { Step } from './step.ts';

const TIMEOUTS = { statementTimeoutMs: 100, silenceMs: 100 };

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(async () => {
  await scratch[Symbol.asyncDispose]();
});

function open(maxConnections: number, url = scratch.url): SessionPool {
  return new SessionPool({ connection: { connectionString: url }, maxConnections, timeouts: TIMEOUTS });
}

async function pidOf(session: Session): Promise<unknown> {
  const step = new Step({ text: 'select pg_backend_pid() as pid' });
  await session.runAlone([step]);
  return (step.rows[0] as { pid: number }).pid;
}

test('waiting callers get sessions in order of arrival', async () => {
  await using pool = open(2);
  const [first, second] = await Promise.all([pool.acquire(), pool.acquire()]);
  const order: number[] = [];
  const late = [1, 2, 3].map(async (index) => {
    const session = await pool.acquire();
    order.push(index);
    const pid = await pidOf(session);
    pool.release(session);
    return pid;
  });
  const pids = new Set([await pidOf(first), await pidOf(second)]);
  pool.release(first);
  pool.release(second);
  for (const pid of await Promise.all(late)) expect(pids).toContain(pid);
  expect(order).toEqual([1, 2, 3]);
});

test('the oldest wait of a pool is that of the first waiting caller', async () => {
  await using pool = open(1);
  const session = await pool.acquire();
  expect(pool.oldestWaitMs).toBe(0);
  const before = performance.now();
  const next = pool.acquire();
  const after = performance.now();
  await pidOf(session);
  const now = performance.now();
  expect(pool.oldestWaitMs).toBeGreaterThanOrEqual(now - after);
  expect(pool.oldestWaitMs).toBeLessThanOrEqual(performance.now() - before);
  pool.release(session);
  expect(pool.oldestWaitMs).toBe(0);
  pool.release(await next);
});

test('a pool hands out the session that was released last', async () => {
  await using pool = open(3);
  const [first, second] = await Promise.all([pool.acquire(), pool.acquire()]);
  pool.release(first);
  pool.release(second);
  expect(pool.take()).toBe(second);
  second.break(new Error('a test'));
  pool.release(second);
  expect(pool.take()).toBe(first);
  expect(pool.take()).toBeUndefined();
  pool.release(first);
});

test('a session refuses a second release', async () => {
  await using pool = open(1);
  const session = await pool.acquire();
  pool.release(session);
  expect(() => pool.release(session)).toThrow('a session that is free cannot go from in use to free');
  expect([pool.take(), pool.take()]).toEqual([session, undefined]);
  pool.release(session);
});

test('a session runs at most one pipeline at a time', async () => {
  await using pool = open(1);
  const session = await pool.acquire();
  const running = session.runAlone([new Step({ text: 'select pg_sleep(0.05)' })]);
  await expect(session.runAlone([new Step({ text: 'select 1' })])).rejects.toThrow('one pipeline under way');
  await running;
  const unfinished = session.runAlone([new Step({ text: 'select pg_sleep(10)' })]);
  pool.release(session);
  await expect(unfinished).rejects.toThrow();
  const next = await pool.acquire();
  expect(next).not.toBe(session);
  pool.release(next);
});

test('a session that is released inside a transaction is closed', async () => {
  await using pool = open(1);
  const session = await pool.acquire();
  const pid = await pidOf(session);
  await session.runAlone([new Step({ text: 'begin' })]);
  pool.release(session);
  const fresh = await pool.acquire();
  expect(await pidOf(fresh)).not.toBe(pid);
  pool.release(fresh);
});

test('a session whose server stops answering fails and frees its slot in the pool', async () => {
  await using proxy = await openProxy(scratch.url);
  await using pool = open(1, proxy.url);
  const session = await pool.acquire();
  await pidOf(session);
  proxy.fallSilent();
  await expect(session.runAlone([new Step({ text: 'select 1' })])).rejects.toThrow('does not answer');
  pool.release(session);
  proxy.speak();
  const next = await pool.acquire();
  expect(await pidOf(next)).toEqual(expect.any(Number));
  pool.release(next);
});

test('disposing a pool waits for the sessions in use', async () => {
  const pool = open(1);
  const session = await pool.acquire();
  const disposed = [pool[Symbol.asyncDispose](), pool[Symbol.asyncDispose]()];
  expect(await pidOf(session)).toEqual(expect.any(Number));
  pool.release(session);
  await Promise.all(disposed);
  await expect(pool.acquire()).rejects.toThrow('no connection');
});

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Accepts all data and forwards nothing. */
  fallSilent(): void;
  speak(): void;
}

async function openProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => !isSilent && to.write(bytes));
      from.on('close', () => to.destroy());
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    fallSilent: () => {
      isSilent = true;
    },
    speak: () => {
      isSilent = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
