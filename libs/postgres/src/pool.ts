/**
 * The connections of one database.
 *
 * States of a session
 * connecting -> free | in use   connected: goes to the first waiter, or else to the free list.
 * free -> in use                the session released last is used first, so that few stay warm.
 * in use -> free | in use       released: goes to the first waiter, or else to the free list.
 * any -> ended                  broken, released inside a transaction, idle too long, failed to
 *                               connect, or the pool is closed. Its slot is free once its
 *                               connection has ended.
 *
 * Limits
 * `maxConnections` sessions, including those that connect or end. A caller that finds no free one
 * waits in line for at most ACQUIRE_TIMEOUT_MS; the coalescers in front limit the line. A free
 * session ends after IDLE_MS. Disposing waits DRAIN_MS for sessions in use, then cuts them. One
 * timer watches silent servers and idle sessions.
 *
 * Invariants
 * A session has one owner: releasing one that is not in use throws. Waiters get sessions in order.
 * No more sessions connect than callers wait. A session in an open transaction, or with a pipeline
 * under way, goes to no other caller. The pool uses no session before one has shown that no
 * connection pooler is in between (pooler.ts).
 */
import type { WaitingQueue } from '@laurel/coalesce';
import pg, { type ClientConfig } from 'pg';
import { verifyDriver } from './driver.ts';
import { ConnectionFailedError } from './errors.ts';
import { connectErrorOf, PoolerError, READ_BACKEND, verifyIsDirect } from './pooler.ts';
import { Session, type SessionTimeouts } from './session.ts';
import { Step } from './step.ts';

export interface PoolOptions {
  readonly connection: ClientConfig;
  readonly maxConnections: number;
  readonly timeouts: SessionTimeouts;
}

interface Waiter {
  /** The time is on the monotonic clock, in milliseconds. */
  readonly since: number;
  resolve(session: Session): void;
  reject(error: Error): void;
}

type State = 'connecting' | 'free' | 'in use' | 'ended';

const ACQUIRE_TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;
const WATCH_MS = 1_000;
const DRAIN_MS = 5_000;

export class SessionPool implements WaitingQueue {
  readonly #options: PoolOptions;
  /** Every session whose connection has not ended: each takes a slot. */
  readonly #sessions = new Map<Session, State>();
  readonly #free: { readonly session: Session; readonly since: number }[] = [];
  readonly #waiters: Waiter[] = [];
  #connecting = 0;
  #watch: NodeJS.Timeout | undefined;
  #isDisposed = false;
  /** Whether one of its connections has reached PostgreSQL itself. */
  #isDirect = false;
  readonly #allEnded = Promise.withResolvers<void>();

  constructor(options: PoolOptions) {
    verifyDriver();
    this.#options = options;
  }

  /** Returns a session immediately if one is free. */
  take(): Session | undefined {
    for (;;) {
      const session = this.#free.pop()?.session;
      if (session === undefined) return undefined;
      if (session.isFree) {
        this.#move(session, 'free', 'in use');
        return session;
      }
      this.#end(session);
    }
  }

  async acquire(): Promise<Session> {
    const free = this.take();
    if (free !== undefined) return free;
    return await new Promise<Session>((resolve, reject) => {
      if (this.#isDisposed) throw unavailable(new Error('the pool is closed'));
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(unavailable(new Error(`all connections were in use for ${ACQUIRE_TIMEOUT_MS} ms`)));
      }, ACQUIRE_TIMEOUT_MS);
      const waiter: Waiter = {
        since: performance.now(),
        resolve: (session) => {
          clearTimeout(timer);
          resolve(session);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error instanceof PoolerError ? error : unavailable(error));
        },
      };
      this.#waiters.push(waiter);
      this.#connectForWaiters();
    });
  }

  release(session: Session): void {
    this.#assign(session, 'in use');
  }

  /** How long the first in line has waited, in milliseconds; 0 if none waits. */
  get oldestWaitMs(): number {
    const [first] = this.#waiters;
    return first === undefined ? 0 : performance.now() - first.since;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new Error('the pool is closed'));
    for (const { session } of this.#free.splice(0)) this.#end(session);
    if (this.#sessions.size === 0) return;
    const limit = setTimeout(() => {
      for (const session of this.#sessions.keys()) session.destroy(new Error('the pool is closed'));
    }, DRAIN_MS);
    await this.#allEnded.promise;
    clearTimeout(limit);
  }

  #connectForWaiters(): void {
    while (this.#connecting < this.#waiters.length && this.#sessions.size < this.#options.maxConnections) {
      void this.#connect();
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#options.connection);
    const session = new Session(client, this.#options.timeouts);
    client.on('error', (error) => session.break(error));
    client.on('end', () => this.#forget(session, new Error('the connection ended')));
    this.#sessions.set(session, 'connecting');
    this.#watch ??= setInterval(() => this.#sweep(), WATCH_MS).unref();
    this.#connecting += 1;
    try {
      await client.connect();
      if (!this.#isDirect) await this.#verifyIsDirect(session);
      this.#connecting -= 1;
      this.#assign(session, 'connecting');
    } catch (cause) {
      const error = connectErrorOf(cause);
      this.#connecting -= 1;
      this.#waiters.shift()?.reject(error);
      session.destroy(error);
      this.#forget(session, error);
    }
  }

  async #verifyIsDirect(session: Session): Promise<void> {
    const step = new Step(READ_BACKEND);
    await session.runAlone([step]);
    verifyIsDirect(session.client, step.rows[0]);
    this.#isDirect = true;
  }

  /** Gives the session to the first waiter or the free list, or ends it. */
  #assign(session: Session, from: 'connecting' | 'in use'): void {
    if (!session.isFree || this.#isDisposed) {
      this.#end(session);
      return;
    }
    this.#move(session, from, this.#waiters.length === 0 ? 'free' : 'in use');
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#free.push({ session, since: performance.now() });
    else waiter.resolve(session);
  }

  #move(session: Session, from: State, to: State): void {
    const state = this.#sessions.get(session);
    if (state !== from) throw new Error(`a session that is ${state ?? 'gone'} cannot go from ${from} to ${to}`);
    this.#sessions.set(session, to);
  }

  #end(session: Session): void {
    if (this.#sessions.has(session)) this.#sessions.set(session, 'ended');
    session.end();
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.#sessions.keys()) session.giveUpIfOverdue(now);
    // The first of the free list has been idle for longest.
    for (let first = this.#free[0]; first !== undefined && first.since + IDLE_MS < now; first = this.#free[0]) {
      this.#free.shift();
      this.#end(first.session);
    }
  }

  /** Frees the session's slot for another connection. */
  #forget(session: Session, cause: unknown): void {
    session.break(cause);
    this.#sessions.delete(session);
    const index = this.#free.findIndex((free) => free.session === session);
    if (index >= 0) this.#free.splice(index, 1);
    this.#connectForWaiters();
    if (this.#sessions.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
    if (this.#isDisposed) this.#allEnded.resolve();
  }
}

function unavailable(cause: Error): ConnectionFailedError {
  return new ConnectionFailedError('no connection to the database could be opened', { cause });
}
