/**
 * The statements that one connection has prepared. A name has one text, and the first pipeline with
 * the name prepares it. Only the response shows whether the server did. So if a pipeline fails, the
 * names that it would have prepared at the failed step and later count as not prepared.
 */
import pg from 'pg';
import type { RowShape } from './row-shape.ts';
import type { Statement, Step } from './step.ts';

interface Prepared {
  readonly text: string;
  /** The shape of the statement's rows, known after its first run. */
  shape: RowShape | undefined;
}

export class PreparedStatements {
  readonly #byName = new Map<string, Prepared>();

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  add(name: string, text: string): void {
    this.#byName.set(name, { text, shape: undefined });
  }

  shapeOf(name: string | undefined): RowShape | undefined {
    return name === undefined ? undefined : this.#byName.get(name)?.shape;
  }

  /**
   * Keeps the shape of the first run: the server refuses the statement when its rows have changed.
   */
  keepShape(name: string | undefined, shape: RowShape): void {
    const prepared = name === undefined ? undefined : this.#byName.get(name);
    if (prepared !== undefined) prepared.shape ??= shape;
  }

  forget(name: string): void {
    this.#byName.delete(name);
  }

  forgetAll(): void {
    this.#byName.clear();
  }

  /** The first statement whose name has another text, on this connection or in an earlier step. */
  conflictAmong(steps: readonly Step[]): Statement | undefined {
    return steps.find(({ statement: { name, text } }) => {
      if (name === undefined) return false;
      const first = this.#byName.get(name) ?? steps.find(({ statement }) => statement.name === name)?.statement;
      return first?.text !== text;
    })?.statement;
  }
}

/** The server has dropped a statement, or the shape of its rows has changed: prepare it again. */
const STALE_STATES: ReadonlySet<string | undefined> = new Set(['0A000', '26000']);

/**
 * Whether a statement failed because its prepared form was stale. It had no effect, and can be sent
 * again.
 */
export function isStale(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE_STATES.has(error.code);
}
