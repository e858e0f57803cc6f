import { counter } from '@laurel/telemetry';
import knex, { type Knex } from 'knex';
import type { Client, QueryConfig, QueryResult } from 'pg';
import { ConnectionFailedError } from './errors.ts';
import { types } from './types.ts';

/**
 * One database and its pool. knex owns the pool and serves migrations and plain queries; hot statements go straight to the
 * `pg` connection, named and therefore prepared once per connection.
 *
 * Transactions are READ COMMITTED, always. `durable: false` commits without waiting for the disk: a crash of the server may
 * lose the newest of them, whole and in order, never a part of one. Only what can be derived again may be written so.
 */
export interface Database extends AsyncDisposable {
  readonly knex: Knex;
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Commits when `work` resolves and rolls back when it throws. No network call belongs inside.
   * A `ConnectionFailedError` leaves open whether the commit happened.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One statement as its own transaction. */
  write<Row>(statement: Statement, values: readonly unknown[], options: { readonly durable: boolean }): Promise<Row[]>;
  /**
   * Several statements as one transaction in one round trip, each in a snapshot of its own: what the first locks is held when the
   * second looks. `batch<[A, B]>` answers the rows of the first as `A[]` and those of the second as `B[]`. The first statement to
   * fail undoes all of them, and the batch rejects with its error.
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

export type RowsOf<Rows extends readonly unknown[]> = { readonly [Place in keyof Rows]: Rows[Place][] };

/** `beforeCommit` runs before anything is sent, since the commit goes along. */
export type BatchOptions = Pick<TransactionOptions, 'durable' | 'beforeCommit'>;

export interface Transaction {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends the last statements together with the commit, which saves a round trip. `work` issues all of them at once, through `last`,
   * before it awaits anything. Nothing is sent when it throws first; a statement that fails makes the server roll back.
   */
  commitWith<T>(work: (last: Queryable) => Promise<T>): Promise<T>;
}

/** A database, one of its transactions, or the last statements of one: what a statement runs on. */
export type Queryable = Pick<Transaction, 'query'>;

/** A statement with a name is prepared once per connection; one name has one text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

export interface TransactionOptions {
  /** Whether the commit waits for the disk; true unless said. */
  readonly durable?: boolean;
  /** Runs inside the transaction, just before its commit (and what is sent with it); what it throws rolls back. */
  readonly beforeCommit?: () => void | Promise<void>;
  /** The longest that one statement may run, in place of the database's own limit: for audits, which read everything. */
  readonly statementTimeoutMs?: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
}

const BEGIN = {
  durable: 'begin isolation level read committed',
  lazy: 'begin isolation level read committed; set local synchronous_commit = off',
};

/**
 * Services look rows up by key, in batches of any size. Left alone, the planner makes a new plan for every array length, which costs
 * more than running it, and may read a whole table that was small when it last looked. So a prepared statement is planned once, and
 * joins go row by row through indexes (measured: 0.33 ms to 0.08 ms a statement). What reads whole tables, as an audit does, takes
 * these settings back in its transaction (WHOLE_TABLES).
 */
const PLAN_STABLE =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

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

const SELECT = /^\s*select\s/;

const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
const REACHABLE_TIMEOUT_MS = 2_000;
const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
/** The server ends a slow statement itself; only a server that is gone without a word makes the client end it, so much later. */
const SILENCE_MS = 5_000;

export function createDatabase(options: DatabaseOptions): Database {
  const { url, maxConnections, applicationName, statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS } = options;
  const pool = knex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      // A process that hangs inside a transaction must not hold its locks for ever.
      idle_in_transaction_session_timeout: statementTimeoutMs + SILENCE_MS,
      query_timeout: statementTimeoutMs + SILENCE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      options: PLAN_STABLE,
      // Statements that do not depend on each other's results go out together.
      pipeline: true,
      types,
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: maxConnections },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    log: { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} },
  });
  const transactions = counter('laurel_postgres_transactions_total', 'Transactions by how they ended.', ['outcome']);

  async function withConnection<T>(work: (connection: Client) => Promise<T>): Promise<T> {
    let connection: Client;
    try {
      connection = await pool.client.acquireConnection();
    } catch (cause) {
      throw new ConnectionFailedError('no connection to the database could be had', { cause });
    }
    try {
      return await work(connection);
    } catch (error) {
      if (isBroken(connection) && !(error instanceof ConnectionFailedError)) {
        throw new ConnectionFailedError('the connection to the database broke', { cause: error });
      }
      throw error;
    } finally {
      await pool.client.releaseConnection(connection);
    }
  }

  async function transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    { durable = true, beforeCommit, statementTimeoutMs: ownTimeoutMs }: TransactionOptions = {},
  ): Promise<T> {
    return await withConnection(async (connection) => {
      let isOver = false;
      let isCommitted = false;
      let hasBegun = false;
      let isFirst = true;
      const queryTimeoutMs = ownTimeoutMs === undefined ? undefined : ownTimeoutMs + SILENCE_MS;
      const begun = begin(connection, durable, ownTimeoutMs).then(() => {
        hasBegun = true;
      });
      // Awaited below or by the first statement; whoever comes first, nobody else need hear of it.
      begun.catch(() => {});
      const tx: Transaction = {
        query: async <Row>(statement: Statement, values?: readonly unknown[]) => {
          if (isOver) throw new Error(`the transaction is over: ${statement.text}`);
          const goesAlong = isFirst && isSelect(statement);
          isFirst = false;
          if (goesAlong)
            return (await Promise.all([run<Row>(connection, statement, values, queryTimeoutMs), begun]))[0];
          if (!hasBegun) await begun;
          return await run<Row>(connection, statement, values, queryTimeoutMs);
        },
        commitWith: async <Last>(lastWork: (last: Queryable) => Promise<Last>): Promise<Last> => {
          await begun;
          await beforeCommit?.();
          const held: (() => void)[] = [];
          const sent = lastWork({
            query: <Row>(statement: Statement, values?: readonly unknown[]) => {
              if (isOver) throw new Error(`the transaction is over: ${statement.text}`);
              return new Promise<Row[]>((resolve, reject) => {
                held.push(() => run<Row>(connection, statement, values, queryTimeoutMs).then(resolve, reject));
              });
            },
          });
          // A failure before its statement is known must keep the commit from going out, so it gets one turn to show.
          await Promise.race([sent, new Promise((resolve) => setImmediate(resolve))]);
          isOver = true;
          const { stream } = connection.connection;
          stream.cork();
          for (const send of held) send();
          const committing = connection.query('commit');
          stream.uncork();
          const [result, commit] = await Promise.allSettled([sent, committing]);
          if (result.status === 'rejected') throw result.reason;
          if (commit.status === 'rejected') throw commit.reason;
          assertCommitted(commit.value);
          isCommitted = true;
          return result.value;
        },
      };
      try {
        const result = await work(tx);
        if (!isCommitted) {
          await begun;
          await beforeCommit?.();
          isOver = true;
          assertCommitted(await connection.query('commit'));
        }
        transactions.inc({ outcome: 'committed' });
        return result;
      } catch (error) {
        isOver = true;
        if (isCommitted) throw error;
        transactions.inc({ outcome: 'rolled_back' });
        await rollBack(connection);
        throw error;
      }
    });
  }

  async function write<Row>(
    statement: Statement,
    values: readonly unknown[],
    { durable }: { readonly durable: boolean },
  ): Promise<Row[]> {
    if (durable) return await withConnection((connection) => run<Row>(connection, statement, values));
    // All three go out at once. Should the first fail alone, the second commits by itself, durably: more than was asked for.
    return await withConnection(async (connection) => {
      const { stream } = connection.connection;
      stream.cork();
      const answers = [
        connection.query(BEGIN.lazy),
        run<Row>(connection, statement, values),
        connection.query('commit'),
      ] as const;
      stream.uncork();
      const [begin, rows, commit] = await Promise.allSettled(answers);
      for (const answer of [begin, rows, commit]) if (answer.status === 'rejected') throw answer.reason;
      return rows.status === 'fulfilled' ? rows.value : [];
    });
  }

  async function batch<Rows extends readonly unknown[]>(
    statements: readonly BoundStatement[],
    { durable = true, beforeCommit }: BatchOptions = {},
  ): Promise<RowsOf<Rows>> {
    return await withConnection(async (connection) => {
      await beforeCommit?.();
      const { stream } = connection.connection;
      stream.cork();
      const begin = connection.query(durable ? BEGIN.durable : BEGIN.lazy);
      const answers = statements.map(({ statement, values }) => run<unknown>(connection, statement, values));
      const commit = connection.query('commit');
      stream.uncork();
      await Promise.allSettled([begin, ...answers, commit]);
      await begin;
      const rows = await Promise.all(answers);
      assertCommitted(await commit);
      return rows as RowsOf<Rows>;
    });
  }

  return {
    knex: pool,
    batch,
    query: (statement, values) => withConnection((connection) => run(connection, statement, values)),
    transaction,
    write,
    isReachable: async () => {
      const timeout = AbortSignal.timeout(REACHABLE_TIMEOUT_MS);
      const isTooLate = new Promise<boolean>((resolve) => timeout.addEventListener('abort', () => resolve(false)));
      const answers = withConnection((connection) => connection.query('select 1')).then(
        () => true,
        () => false,
      );
      return await Promise.race([answers, isTooLate]);
    },
    [Symbol.asyncDispose]: async () => await pool.destroy(),
  };
}

async function run<Row>(
  connection: Client,
  statement: Statement,
  values?: readonly unknown[],
  queryTimeoutMs?: number,
): Promise<Row[]> {
  const query: QueryConfig & { query_timeout?: number } = { ...statement, values: values as unknown[] };
  if (queryTimeoutMs !== undefined) query.query_timeout = queryTimeoutMs;
  const { rows } = await connection.query(query);
  return rows as Row[];
}

/** The server answers the commit of a failed transaction with a rollback and no error. */
function assertCommitted({ command }: QueryResult): void {
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed');
}

/** Holds the `begin` back until the end of this tick, so that it leaves together with a first statement that goes along. */
async function begin(connection: Client, durable: boolean, statementTimeoutMs?: number): Promise<void> {
  const { stream } = connection.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
  const text = durable ? BEGIN.durable : BEGIN.lazy;
  await connection.query(
    statementTimeoutMs === undefined ? text : `${text}; set local statement_timeout = ${statementTimeoutMs}`,
  );
}

/**
 * Whether a statement may be sent before the answer to `begin`: should `begin` fail alone, this one would run and commit by
 * itself, which is harmless for what only reads or locks, and for nothing else.
 */
function isSelect(statement: Statement): boolean {
  return SELECT.test(statement.text);
}

/** A connection whose rollback fails is in no known state: the pool throws it away. */
async function rollBack(connection: Client & { __knex__disposed?: unknown }): Promise<void> {
  try {
    await connection.query('rollback');
  } catch (error) {
    connection.__knex__disposed ??= error;
  }
}

/** knex marks a connection that broke, so that its pool does not give it out again. */
function isBroken(connection: Client & { __knex__disposed?: unknown }): boolean {
  return connection.__knex__disposed !== undefined || connection.connection.stream.destroyed;
}
