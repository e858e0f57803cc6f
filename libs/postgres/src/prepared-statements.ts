/**
 * What one connection has prepared. A name has one text, and is prepared when a pipeline first carries it. Only the pipeline's answer
 * shows whether the server has it, so what a failed pipeline prepared from its failed step on counts as not prepared.
 */
import pg from 'pg';
import type { RowShape } from './row-shape.ts';
import type { Statement, Step } from './step.ts';

interface Prepared {
  readonly text: string;
  /** Known once its first run has been answered. */
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

  /** The shape of the first run counts: the server refuses the statement when its rows have changed. */
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

  /** The first whose name belongs to another text, here or earlier among the steps. */
  conflictAmong(steps: readonly Step[]): Statement | undefined {
    return steps.find(({ statement: { name, text } }) => {
      if (name === undefined) return false;
      const first = this.#byName.get(name) ?? steps.find(({ statement }) => statement.name === name)?.statement;
      return first?.text !== text;
    })?.statement;
  }
}

/** The server has dropped a statement, or its rows have changed since it was prepared: it has to be prepared again. */
const STALE_STATES: ReadonlySet<string | undefined> = new Set(['0A000', '26000']);

/** A statement failed because its prepared form was stale. It had no effect, and does not fail for that reason when it is sent again. */
export function isStale(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE_STATES.has(error.code);
}
