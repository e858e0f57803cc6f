import pg, { type ClientConfig } from 'pg';
import { ConnectionFailedError } from './errors.ts';
import { type Patience, Session } from './session.ts';

export interface PoolOptions {
  readonly connection: ClientConfig;
  readonly maxConnections: number;
  readonly patience: Patience;
}

interface Waiter {
  resolve(session: Session): void;
  reject(error: Error): void;
}

const ACQUIRE_TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;
const WATCH_MS = 1_000;
/** How long disposing waits for those who are at work. */
const FAREWELL_MS = 5_000;

/**
 * The connections of one database. The one given back last is given out next, so that few stay warm; who comes when all are
 * taken waits in line. One timer for all watches over those that wait for a silent server and those that nobody uses.
 */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #sessions = new Set<Session>();
  readonly #free: { readonly session: Session; readonly since: number }[] = [];
  readonly #waiters: Waiter[] = [];
  #connecting = 0;
  #watch: NodeJS.Timeout | undefined;
  #isDisposed = false;
  readonly #allEnded = Promise.withResolvers<void>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** A session at once, if one is free. */
  take(): Session | undefined {
    for (;;) {
      const free = this.#free.pop();
      if (free === undefined || free.session.isFree) return free?.session;
      free.session.end();
    }
  }

  async acquire(): Promise<Session> {
    const free = this.take();
    if (free !== undefined) return free;
    return await new Promise<Session>((resolve, reject) => {
      if (this.#isDisposed) throw unavailable(new Error('the pool is closed'));
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(unavailable(new Error(`all connections were taken for ${ACQUIRE_TIMEOUT_MS} ms`)));
      }, ACQUIRE_TIMEOUT_MS);
      const waiter: Waiter = {
        resolve: (session) => {
          clearTimeout(timer);
          resolve(session);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(unavailable(error));
        },
      };
      this.#waiters.push(waiter);
      this.#connectForWaiters();
    });
  }

  release(session: Session): void {
    if (!session.isFree || this.#isDisposed) {
      session.end();
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#free.push({ session, since: performance.now() });
    else waiter.resolve(session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new Error('the pool is closed'));
    for (const { session } of this.#free.splice(0)) session.end();
    if (this.#sessions.size === 0) return;
    const farewell = setTimeout(() => {
      for (const session of this.#sessions) session.destroy(new Error('the pool is closed'));
    }, FAREWELL_MS);
    await this.#allEnded.promise;
    clearTimeout(farewell);
  }

  #connectForWaiters(): void {
    while (this.#connecting < this.#waiters.length && this.#sessions.size < this.#options.maxConnections) {
      void this.#connect();
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#options.connection);
    const session = new Session(client, this.#options.patience);
    client.on('error', (error) => session.break(error));
    client.on('end', () => this.#forget(session, new Error('the connection ended')));
    this.#sessions.add(session);
    this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
    this.#connecting += 1;
    try {
      await client.connect();
      this.#connecting -= 1;
      this.release(session);
    } catch (error) {
      this.#connecting -= 1;
      this.#waiters.shift()?.reject(error as Error);
      session.destroy(error as Error);
      this.#forget(session, error);
    }
  }

  #look(): void {
    const now = performance.now();
    for (const session of this.#sessions) session.giveUpIfOverdue(now);
    // The first of the free list is the one that has been idle for longest.
    while (this.#free[0] !== undefined && this.#free[0].since + IDLE_MS < now) this.#free.shift()?.session.end();
  }

  /** Its place is free for another connection. */
  #forget(session: Session, cause: unknown): void {
    session.break(cause);
    this.#sessions.delete(session);
    const place = this.#free.findIndex((free) => free.session === session);
    if (place >= 0) this.#free.splice(place, 1);
    this.#connectForWaiters();
    if (this.#sessions.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
    if (this.#isDisposed) this.#allEnded.resolve();
  }
}

function unavailable(cause: Error): ConnectionFailedError {
  return new ConnectionFailedError('no connection to the database could be had', { cause });
}
