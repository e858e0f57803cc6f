import { registerQueue } from '@laurel/coalesce';
import { counter, inSpan, tracer } from '@laurel/telemetry';
import pg from 'pg';
import { ConnectionFailedError } from './errors.ts';
import { SessionPool } from './pool.ts';
import { isStale } from './prepared-statements.ts';
import type { Session } from './session.ts';
import { type Statement, Step } from './step.ts';
import { NOT_DURABLE, SessionTransaction, type Transaction, type TransactionOptions } from './transaction.ts';
import { types } from './types.ts';

/**
 * One database and its pool. Statements go directly to the connection. Those that can be sent
 * together share one write; those with a name are prepared once per connection.
 *
 * Transactions are READ COMMITTED, except those that read one snapshot and write nothing. `durable:
 * false` commits without waiting for the disk: a crash of the server may then lose the newest
 * transactions, each as a whole. Use it only for data that can be derived again.
 */
export interface Database extends AsyncDisposable {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Commits when `work` resolves and rolls back when it throws. No network call belongs inside.
   * A `ConnectionFailedError` leaves open whether the commit happened.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs one statement as its own transaction. */
  write<Row>(statement: Statement, values: readonly unknown[], options: { readonly durable: boolean }): Promise<Row[]>;
  /**
   * Several statements as one transaction in one round trip, each with its own snapshot: when the
   * second reads, the first holds its locks. `batch<[A, B]>` returns the rows of the first as `A[]`
   * and of the second as `B[]`. The first statement to fail undoes all, and the batch rejects with
   * its error.
   */
  batch<Rows extends readonly unknown[] = readonly unknown[]>(
    statements: readonly BoundStatement[],
    options?: BatchOptions,
  ): Promise<RowsOf<Rows>>;
  isReachable(): Promise<boolean>;
}

export interface BoundStatement {
  readonly statement: Statement;
  readonly values?: readonly unknown[];
}

export type RowsOf<Rows extends readonly unknown[]> = { readonly [Index in keyof Rows]: Rows[Index][] };

/** `beforeCommit` runs before anything is sent, because the commit goes with the statements. */
export type BatchOptions = Pick<TransactionOptions, 'durable' | 'beforeCommit'>;

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** The name is shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
}

/**
 * Four settings for speed only. Services look rows up by key, in batches of any size. By default
 * the planner makes a new plan for every array length, which costs more than running it, and may
 * read a whole table that was small when it last looked. With these settings a prepared statement
 * is planned once, and joins use indexes row by row (measured: 0.33 ms to 0.08 ms a statement).
 * An audit, which reads whole tables, resets them in its transaction (WHOLE_TABLES). No statement
 * depends on them to be correct: its text determines the order in which it locks rows
 * (docs/lock-order.md).
 */
const PLAN_STABLE =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';
/**
 * Needed for correctness: a statement without a `begin` would otherwise have the isolation level
 * that is the server's default.
 */
const READ_COMMITTED = '-c default_transaction_isolation=read\\ committed';
const SESSION_OPTIONS = `${PLAN_STABLE} ${READ_COMMITTED}`;

/** The first statement of a transaction that reads whole tables. */
export const WHOLE_TABLES: Statement = {
  text: `
    select set_config(name, value, true)
    from (values
      ('plan_cache_mode', 'auto'), ('enable_seqscan', 'on'), ('enable_hashjoin', 'on'), ('enable_mergejoin', 'on'),
      -- By its last statistics a table that has grown since is small, and a loop over it may never end (measured: 120 s, now 2).
      ('enable_nestloop', 'off'),
      -- Room to sort and hash in memory pays; compiling queries that run once does not.
      ('work_mem', '128MB'), ('jit', 'off')
    ) as settings (name, value)`,
};

const CONNECT_TIMEOUT_MS = 5_000;
const REACHABLE_TIMEOUT_MS = 2_000;
const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
const SILENCE_MS = 5_000;
/**
 * The role lacks a privilege, for example on a table that a migration made and grants.sql omits.
 */
const NOT_ALLOWED = '42501';

export function createDatabase(options: DatabaseOptions): Database {
  const { url, maxConnections, applicationName, statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS } = options;
  const pool = new SessionPool({
    connection: {
      connectionString: url,
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      // A process that hangs inside a transaction must not hold its locks forever.
      idle_in_transaction_session_timeout: statementTimeoutMs + SILENCE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      options: SESSION_OPTIONS,
      types,
    },
    maxConnections,
    timeouts: { statementTimeoutMs, silenceMs: SILENCE_MS },
  });
  registerQueue('database', pool);
  const transactions = counter('laurel_postgres_transactions_total', 'Transactions by how they ended.', ['outcome']);

  async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const span = tracer?.active();
    const session = pool.take() ?? (await inSpan(span?.child('internal', 'await connection'), () => pool.acquire()));
    session.span = span;
    try {
      return await work(session);
    } catch (error) {
      // The error was created where the response was read; the caller's stack is more useful.
      if (error instanceof pg.DatabaseError) {
        if (error.code === NOT_ALLOWED)
          error.message += '; what the role may do stands in the grants.sql of the service';
        Error.captureStackTrace(error);
      }
      if (session.brokenBy === undefined) throw error;
      throw new ConnectionFailedError('the connection to the database broke', { cause: error });
    } finally {
      pool.release(session);
    }
  }

  /**
   * Runs steps as one transaction of their own. A step that fails as stale had no effect, so it may
   * be sent again.
   */
  async function runAlone(steps: readonly Step[]): Promise<void> {
    await withSession(async (session) => {
      try {
        await session.runAlone(steps);
      } catch (error) {
        if (!isStale(error)) throw error;
        for (const step of steps) step.rows = [];
        await session.runAlone(steps);
      }
    });
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return await withSession(async (session) => {
      const tx = new SessionTransaction(session, options);
      try {
        const result = await work(tx);
        await tx.commit();
        transactions.inc({ outcome: 'committed' });
        return result;
      } catch (error) {
        if (tx.isCommitted) throw error;
        transactions.inc({ outcome: 'rolled_back' });
        await tx.rollBack();
        throw error;
      }
    });
  }

  async function query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> {
    const step = new Step(statement, values);
    await runAlone([step]);
    return step.rows as Row[];
  }

  async function write<Row>(
    statement: Statement,
    values: readonly unknown[],
    { durable }: { readonly durable: boolean },
  ): Promise<Row[]> {
    const step = new Step(statement, values);
    await runAlone(durable ? [step] : [new Step(NOT_DURABLE), step]);
    return step.rows as Row[];
  }

  async function batch<Rows extends readonly unknown[]>(
    statements: readonly BoundStatement[],
    { durable = true, beforeCommit }: BatchOptions = {},
  ): Promise<RowsOf<Rows>> {
    await beforeCommit?.();
    const steps = statements.map(({ statement, values }) => new Step(statement, values));
    try {
      if (steps.length > 0) await runAlone(durable ? steps : [new Step(NOT_DURABLE), ...steps]);
      transactions.inc({ outcome: 'committed' });
    } catch (error) {
      transactions.inc({ outcome: 'rolled_back' });
      throw error;
    }
    return steps.map(({ rows }) => rows) as unknown as RowsOf<Rows>;
  }

  return {
    query,
    transaction,
    write,
    batch,
    isReachable: async () => {
      const timeout = AbortSignal.timeout(REACHABLE_TIMEOUT_MS);
      const isTooLate = new Promise<boolean>((resolve) => timeout.addEventListener('abort', () => resolve(false)));
      const answers = query({ text: 'select 1' }).then(
        () => true,
        () => false,
      );
      return await Promise.race([answers, isTooLate]);
    },
    [Symbol.asyncDispose]: async () => await pool[Symbol.asyncDispose](),
  };
}
