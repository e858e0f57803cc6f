/**
 * Steps that are sent to the server in one write with one Sync, and answered together. Outside an explicit transaction they are one
 * transaction, which the Sync commits.
 *
 * States
 *   made       not submitted yet; `pg` submits it when the connection is free.
 *   sent       all of it was written. The server answers step by step: rows, then the command's tag. `#index` is the step whose answer is
 *              awaited, and only ever grows.
 *   ended      `onEnd` was called, once: with no failure at ReadyForQuery, when every step has its answer; or with the index of the step
 *              that failed. Then the server has skipped the steps behind it, and those before it have their rows.
 *   made -> ended, without anything sent, where a name is already in use or the connection is closed.
 *
 * Limits
 *   65,535 values a step. As many steps as the caller has: they are all in memory, and the server reads while it answers. The time limit
 *   is the session's (`session.ts`).
 *
 * Invariants
 *   Rows belong to the step at `#index`. Rows or tags beyond the last step, and a ReadyForQuery before the last step's tag, mean that the
 *   connection and we disagree on what was asked: no answer on it can be trusted, so the connection is cut, which fails the
 *   pipeline and keeps the session from the next caller. A text of several commands is answered by its first command; the results of
 *   the others are ignored.
 *   A statement counts as prepared from the moment it was written until its pipeline fails at or before it.
 */
import pg, { type Connection } from 'pg';
import type { CommandComplete, DataRow, DriverQuery, RowDescription } from './driver.ts';
import { isStale, type PreparedStatements } from './prepared-statements.ts';
import { NO_COLUMNS, type RowShape, readRow, rowShapeOf } from './row-shape.ts';
import type { Step } from './step.ts';

/** The step at `index` failed, and those behind it were skipped. Every step that a lost connection left without an answer has failed. */
export interface Failure {
  readonly error: Error;
  readonly index: number;
}

export type OnEnd = (failure?: Failure) => void;

export class Pipeline implements DriverQuery {
  readonly steps: readonly Step[];
  readonly #prepared: PreparedStatements;
  readonly #onEnd: OnEnd;
  /** One command without values, which is sent as a text and may hold several. */
  readonly #isText: boolean;
  /** An answer did not match what was asked, so the connection was cut. */
  isOutOfStep = false;
  #state: 'made' | 'sent' | 'ended' = 'made';
  #connection: Connection | undefined;
  #index = 0;
  #shape: RowShape | undefined;
  /** Names that this pipeline prepares, each with the index of the step that does. */
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
        // Replaces one that may exist.
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

  /** No step limits its rows, so that no portal is ever suspended. */
  handlePortalSuspended(): void {
    this.#cut('the server suspended a statement that has no limit');
  }

  /** The server may have read the Sync as part of the copy, and would then never be ready again. */
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
    // Whether the server has prepared the failed statement, and the shape of its rows, is not known.
    for (const fresh of this.#fresh) if (fresh.index >= index) this.#prepared.forget(fresh.name);
    // What made one statement stale, such as a migration, has made others stale too.
    if (isStale(error)) this.#prepared.forgetAll();
    this.#endOnce({ error, index });
  }

  /** The step that an answer belongs to. */
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

  /** `pg` fails the queries that wait on a connection that was cut, this pipeline included. */
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
