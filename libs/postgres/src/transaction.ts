import type { Failure } from './pipeline.ts';
import type { Session } from './session.ts';
import { type Statement, Step } from './step.ts';

export interface Transaction {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Sends the last statements together with the commit, which saves a round trip. `work` must issue
   * all of them through `last`, in one turn, before it awaits anything. If it throws first, nothing
   * is sent; if a statement fails, the server rolls back.
   */
  commitWith<T>(work: (last: Queryable) => Promise<T>): Promise<T>;
}

/** Where a statement runs: a database, a transaction, or the last statements of one. */
export type Queryable = Pick<Transaction, 'query'>;

export interface TransactionOptions {
  /** Whether the commit waits for the disk; true by default. */
  readonly durable?: boolean;
  /**
   * Runs just before the commit and the statements with it are sent; if it throws, the transaction
   * rolls back.
   */
  readonly beforeCommit?: () => void | Promise<void>;
  /**
   * The longest that one statement may run, instead of the database's own limit: for audits, which
   * read everything.
   */
  readonly statementTimeoutMs?: number;
  /** The transaction only reads, and all of its statements see the snapshot of the first. */
  readonly isSnapshot?: boolean;
}

interface Held {
  readonly step: Step;
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
}

const BEGIN: Statement = { name: 'transaction-begin', text: 'begin isolation level read committed' };
const ONE_SNAPSHOT: Statement = { text: 'set transaction isolation level repeatable read, read only' };
const COMMIT: Statement = { name: 'transaction-commit', text: 'commit' };
const ROLLBACK: Statement = { name: 'transaction-rollback', text: 'rollback' };

/**
 * Precedes the first statement of a transaction, with or without `begin`, and holds until its end.
 */
export const NOT_DURABLE: Statement = {
  name: 'transaction-not-durable',
  text: `select set_config('synchronous_commit', 'off', true)`,
};

/**
 * A transaction on a session.
 *
 * States
 * open        accepts statements. All that are issued in one turn of the event loop share one
 *             pipeline; the first pipeline starts with `begin`. While one is under way, the next
 *             one gathers.
 * committing  the commit has been issued: no further statement is accepted.
 * committed   the server answered `COMMIT`, even if `rollBack` was called in between; or there was
 *             nothing to commit.
 * rolledBack  `rollBack` was called in another state. Statements issued and not sent are rejected.
 * The states do not say whether the server has a transaction. `#hasBegun`: a `begin` was sent.
 * `#unopened`: that `begin` failed, so the server has skipped the statements after it, and nothing
 * more is sent.
 *
 * Limits
 * One pipeline under way, and so one round trip at a time. A statement has the time limit of its
 * database, or that of the options.
 *
 * Invariants
 * Statements run in the order in which they were issued, never outside the transaction. Each has
 * one result; if one fails, it and all later ones reject. A commit with any other tag than `COMMIT`
 * is a failure: the server ends a failed transaction with a rollback and no error. If the rollback
 * fails, the session's state is unknown, and nobody uses it again.
 */
export class SessionTransaction implements Transaction {
  readonly #session: Session;
  readonly #options: TransactionOptions;
  #state: 'open' | 'committing' | 'committed' | 'rolledBack' = 'open';
  #held: Held[] = [];
  #underWay: Promise<void> | undefined;
  #hasBegun = false;
  /** Why no transaction has begun although `begin` was sent. */
  #unopened: Error | undefined;
  #isScheduled = false;

  constructor(session: Session, options: TransactionOptions) {
    this.#session = session;
    this.#options = options;
  }

  get isCommitted(): boolean {
    return this.#state === 'committed';
  }

  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> {
    const answer = this.#hold<Row>(this.#held, statement, values);
    this.#sendSoon();
    return answer;
  }

  async commitWith<T>(work: (last: Queryable) => Promise<T>): Promise<T> {
    await this.#options.beforeCommit?.();
    const last: Held[] = [];
    const sent = work({ query: (statement, values) => this.#hold(last, statement, values) });
    // Waits one turn: if `work` fails before it has issued its statements, nothing may commit.
    await Promise.race([sent, new Promise<void>(atEndOfTurn)]);
    this.#held.push(...last);
    const [result, commit] = await Promise.allSettled([sent, this.#sendCommit()]);
    if (result.status === 'rejected') throw result.reason;
    if (commit.status === 'rejected') throw commit.reason;
    return result.value;
  }

  /** Commits, unless the commit already went out with the last statements. */
  async commit(): Promise<void> {
    if (this.isCommitted) return;
    await this.#options.beforeCommit?.();
    if (this.#hasBegun || this.#held.length > 0) {
      await this.#sendCommit();
    } else {
      if (this.#state !== 'open') throw overError(COMMIT);
      this.#state = 'committed';
    }
  }

  async rollBack(): Promise<void> {
    if (this.isCommitted) throw new Error('a transaction that was committed cannot be rolled back');
    this.#state = 'rolledBack';
    for (const { step, reject } of this.#held.splice(0)) reject(overError(step.statement));
    await this.#underWay;
    if (!this.#hasBegun || this.#session.brokenBy !== undefined) return;
    try {
      await this.#session.runAlone([new Step(ROLLBACK)]);
    } catch (error) {
      this.#session.break(error);
    }
  }

  #hold<Row>(held: Held[], statement: Statement, values?: readonly unknown[]): Promise<Row[]> {
    const answer = new Promise<unknown[]>((resolve, reject) => {
      if (this.#state !== 'open') throw overError(statement);
      held.push({ step: new Step(statement, values), resolve, reject });
    });
    // A failure prevents the commit, so the caller sees it even without awaiting the statement.
    answer.catch(() => {});
    return answer as Promise<Row[]>;
  }

  async #sendCommit(): Promise<void> {
    if (this.#state !== 'open') throw overError(COMMIT);
    const committed = this.#hold(this.#held, COMMIT);
    const commit = this.#held.at(-1)?.step;
    this.#state = 'committing';
    this.#send();
    await committed;
    if (commit?.tag !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed');
    this.#state = 'committed';
  }

  #sendSoon(): void {
    if (this.#isScheduled || this.#underWay !== undefined) return;
    this.#isScheduled = true;
    atEndOfTurn(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#underWay !== undefined || this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    if (this.#unopened !== undefined) {
      for (const { reject } of held) reject(this.#unopened);
      return;
    }
    const opening = this.#hasBegun ? [] : this.#opening();
    this.#hasBegun = true;
    const steps = [...opening, ...held.map(({ step }) => step)];
    this.#underWay = new Promise<void>((resolve) => {
      const onEnd = (failure?: Failure) => {
        this.#underWay = undefined;
        if (failure !== undefined && failure.index < opening.length) this.#unopened = failure.error;
        for (const [index, one] of held.entries()) answerOne(one, opening.length + index, failure);
        resolve();
        if (this.#held.length > 0) this.#sendSoon();
      };
      this.#session.send(steps, onEnd, this.#options.statementTimeoutMs);
    });
  }

  #opening(): readonly Step[] {
    const { durable = true, statementTimeoutMs, isSnapshot = false } = this.#options;
    const steps = [new Step(BEGIN)];
    // Must precede any query.
    if (isSnapshot) steps.push(new Step(ONE_SNAPSHOT));
    if (!durable) steps.push(new Step(NOT_DURABLE));
    if (statementTimeoutMs !== undefined) {
      steps.push(new Step({ text: `set local statement_timeout = ${statementTimeoutMs}` }));
    }
    return steps;
  }
}

function answerOne({ step, resolve, reject }: Held, index: number, failure?: Failure): void {
  if (failure === undefined || index < failure.index) resolve(step.rows);
  else if (index === failure.index) reject(failure.error);
  else
    reject(
      new Error(`skipped, because a statement before it failed: ${failure.error.message}`, { cause: failure.error }),
    );
}

function overError({ text }: Statement): Error {
  return new Error(`the transaction is over: ${text}`);
}

/** Calls back after all promise callbacks and ticks of this turn, and before new input is read. */
function atEndOfTurn(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
