/**
 * Sends steps to the server in one write with one Sync, and reads all results. Outside an explicit
 * transaction they are one transaction, which the Sync commits.
 *
 * States
 * made       not submitted; `pg` submits it when the connection is free.
 * sent       all of it was written. The server answers step by step: rows, then the command's tag.
 *            `#index` is the step whose result is due; it only grows.
 * ended      `onEnd` was called, once: without a failure at ReadyForQuery, when every step has its
 *            result; or with the index of the failed step. Then the steps before it have their
 *            rows, and the server has skipped those after it.
 * made -> ended, with nothing sent, if a name is in use for another text or the connection is
 * closed.
 *
 * Limits
 * 65,535 values a step. Any number of steps: all are in memory, and the server reads while it
 * answers. The session has the time limit (`session.ts`).
 *
 * Invariants
 * Rows belong to the step at `#index`. Rows or tags after the last step, or a ReadyForQuery before
 * the last step's tag, mean that server and client disagree on what was asked. No result on this
 * connection can be trusted then, so it is cut: the pipeline fails, and the next caller gets
 * another session. A text of several commands has the result of its first command; the results of
 * the others are ignored.
 * A statement counts as prepared once it is written, unless its pipeline then fails at that step or
 * an earlier one.
 */
import pg, { type Connection } from 'pg';
import type { CommandComplete, DataRow, DriverQuery, RowDescription } from './driver.ts';
import { isStale, type PreparedStatements } from './prepared-statements.ts';
import { NO_COLUMNS, type RowShape, readRow, rowShapeOf } from './row-shape.ts';
import type { Step } from './step.ts';

/**
 * The step at `index` failed, and later ones were skipped. If the connection is lost, every step
 * without a result has failed.
 */
export interface Failure {
  readonly error: Error;
  readonly index: number;
}

export type OnEnd = (failure?: Failure) => void;

export class Pipeline implements DriverQuery {
  readonly steps: readonly Step[];
  readonly #prepared: PreparedStatements;
  readonly #onEnd: OnEnd;
  /** One step without values, sent as a text that may hold several commands. */
  readonly #isText: boolean;
  /** A response did not match what was asked, so the connection was cut. */
  isOutOfStep = false;
  #state: 'made' | 'sent' | 'ended' = 'made';
  #connection: Connection | undefined;
  #index = 0;
  #shape: RowShape | undefined;
  /** The names that this pipeline prepares, each with the index of its step. */
  readonly #fresh: { readonly name: string; readonly index: number }[] = [];
  #unreadable: Failure | undefined;

  constructor(steps: readonly Step[], prepared: PreparedStatements, onEnd: OnEnd) {
    const [only] = steps;
    this.steps = steps;
    this.#prepared = prepared;
    this.#onEnd = onEnd;
    this.#isText = steps.length === 1 && only?.statement.name === undefined && only?.parameters.length === 0;
  }

  submit(connection: Connection): Error | undefined {
    if (this.#state !== 'made') return new Error(`a pipeline is sent once, and this one is ${this.#state}`);
    const conflict = this.#prepared.conflictAmong(this.steps);
    if (conflict !== undefined) {
      const { name, text } = conflict;
      return new Error(`prepared statements are one for a name, and ${name} is another one already: ${text}`);
    }
    this.#connection = connection;
    this.#state = 'sent';
    connection.stream.cork();
    if (this.#isText) for (const { statement } of this.steps) connection.query(statement.text);
    else this.#writeSteps(connection);
    connection.stream.uncork();
    return undefined;
  }

  #writeSteps(connection: Connection): void {
    for (const [index, { statement, parameters }] of this.steps.entries()) {
      const { name = '', text } = statement;
      const isNew = !this.#prepared.has(name);
      if (isNew && name !== '') {
        // Closes a statement of the same name, if there is one.
        connection.close({ type: 'S', name }, true);
        this.#prepared.add(name, text);
        this.#fresh.push({ name, index });
      }
      if (isNew) connection.parse({ name, text, types: [] }, true);
      connection.bind({ portal: '', statement: name, values: parameters }, true);
      if (isNew) connection.describe({ type: 'P', name: '' }, true);
      connection.execute({ portal: '' }, true);
    }
    connection.sync();
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = rowShapeOf(fields);
  }

  handleDataRow({ fields }: DataRow): void {
    const step = this.#awaited('a row');
    if (step === undefined || this.#unreadable !== undefined) return;
    this.#shape ??= this.#prepared.shapeOf(step.statement.name) ?? NO_COLUMNS;
    try {
      step.rows.push(readRow(this.#shape, fields));
    } catch (cause) {
      this.#unreadable = { error: new Error('a row cannot be read', { cause }), index: this.#index };
    }
  }

  handleCommandComplete({ text }: CommandComplete): void {
    const step = this.#awaited('a result');
    if (step === undefined) return;
    step.tag = text;
    this.#next(step);
  }

  handleEmptyQuery(): void {
    const step = this.#awaited('an empty result');
    if (step !== undefined) this.#next(step);
  }

  /** No step limits its rows, so the server never suspends a portal. */
  handlePortalSuspended(): void {
    this.#cut('the server suspended a statement that has no limit');
  }

  /** The server may have read the Sync as copy data, and would never be ready again. */
  handleCopyInResponse(): void {
    this.#cut('statements here copy nothing in');
  }

  handleCopyData(): void {}

  handleReadyForQuery(): void {
    if (this.#state === 'sent' && this.#index < this.steps.length) {
      const error = new Error(`the server was ready after ${this.#index} of ${this.steps.length} steps`);
      this.#cut(error.message);
      this.#endOnce({ error, index: this.#index });
      return;
    }
    this.#endOnce(this.#unreadable);
  }

  handleError(error: Error): void {
    const isServers = error instanceof pg.DatabaseError;
    const index = isServers ? Math.min(this.#index, this.steps.length - 1) : 0;
    // It is unknown whether the server prepared the failed statement, and which columns it returns.
    for (const fresh of this.#fresh) if (fresh.index >= index) this.#prepared.forget(fresh.name);
    // The cause of one stale statement, such as a migration, makes others stale too.
    if (isStale(error)) this.#prepared.forgetAll();
    this.#endOnce({ error, index });
  }

  /** The step that a response belongs to. */
  #awaited(answer: string): Step | undefined {
    const step = this.steps[this.#index];
    if (step === undefined && !this.#isText) this.#cut(`the server sent ${answer} that no step has asked for`);
    return step;
  }

  #next({ statement: { name } }: Step): void {
    this.#prepared.keepShape(name, this.#shape ?? NO_COLUMNS);
    this.#shape = undefined;
    this.#index += 1;
  }

  /** `pg` fails all queries on a connection that was cut, this pipeline included. */
  #cut(reason: string): void {
    this.isOutOfStep = true;
    this.#connection?.stream.destroy(new Error(reason));
  }

  #endOnce(failure?: Failure): void {
    if (this.#state === 'ended') {
      this.#cut('the server answered a pipeline twice');
      return;
    }
    this.#state = 'ended';
    this.#onEnd(failure);
  }
}
