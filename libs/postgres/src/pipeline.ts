import pg, { type Connection, type Submittable } from 'pg';
import { types } from './types.ts';

/** What goes to the server as a value of a statement: text, or bytes as they are. */
type Parameter = string | Buffer | null;

/** As `pg` sends values: arrays as array literals, instants with their zone, objects as JSON. Throws for what cannot be sent. */
const toParameter = (pg as unknown as { utils: { prepareValue(value: unknown): Parameter } }).utils.prepareValue;

/** A statement with a name is prepared once per connection; one name has one text. Without one and alone, it may be several commands. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** One execution of a statement, and what the server answered to it. */
export class Step {
  readonly statement: Statement;
  readonly parameters: Parameter[];
  rows: unknown[] = [];
  /** What the server says it did, as `COMMIT` or `INSERT 0 1`. */
  tag = '';

  constructor(statement: Statement, values: readonly unknown[] = []) {
    if (values.length > MAX_PARAMETERS) throw new Error(`more than ${MAX_PARAMETERS} values: ${statement.text}`);
    this.statement = statement;
    this.parameters = values.map(toParameter);
  }
}

/** The step at `place` failed, and those behind it were skipped. All that a lost connection leaves open has failed. */
export interface Failure {
  readonly error: Error;
  readonly place: number;
}

/** How the rows of a statement are read. */
interface RowShape {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** Copied for each row, so that all rows have one hidden class. */
  readonly empty: Readonly<Record<string, unknown>>;
}

interface Prepared {
  readonly text: string;
  /** Known once its first run has been answered. */
  shape?: RowShape;
}

/** What one connection has prepared, by name. */
export type PreparedStatements = Map<string, Prepared>;

/** The server knows a statement no longer, or its rows have changed since it was prepared: it has to be prepared again. */
const STALE_STATES: ReadonlySet<string | undefined> = new Set(['0A000', '26000']);

const MAX_PARAMETERS = 65_535;
const NO_COLUMNS: RowShape = { names: [], parsers: [], empty: {} };

/**
 * Steps that go to the server in one write with one Sync, and are answered at once. The first to fail makes the server skip the
 * others. Outside an explicit transaction they are one transaction, which the Sync commits.
 */
export class Pipeline implements Submittable {
  readonly steps: readonly Step[];
  readonly #prepared: PreparedStatements;
  readonly #settle: (failure?: Failure) => void;
  /** The step whose answer is awaited. */
  #place = 0;
  #shape: RowShape | undefined;
  /** Names that this pipeline prepares, each with the place that does. */
  readonly #fresh: { readonly name: string; readonly place: number }[] = [];
  #unreadable: Failure | undefined;

  constructor(steps: readonly Step[], prepared: PreparedStatements, settle: (failure?: Failure) => void) {
    this.steps = steps;
    this.#prepared = prepared;
    this.#settle = settle;
  }

  /** What it returns fails the pipeline, of which nothing was sent then. */
  submit(connection: Connection): Error | undefined {
    const taken = this.steps.find(({ statement }) => this.#isTaken(statement));
    if (taken !== undefined) {
      const { name, text } = taken.statement;
      return new Error(`prepared statements are one for a name, and ${name} is another one already: ${text}`);
    }
    const [only] = this.steps;
    const isText = this.steps.length === 1 && only?.statement.name === undefined && only?.parameters.length === 0;
    connection.stream.cork();
    if (isText) connection.query(only.statement.text);
    else this.#writeSteps(connection);
    connection.stream.uncork();
    return undefined;
  }

  #isTaken({ name, text }: Statement): boolean {
    if (name === undefined) return false;
    const first = this.#prepared.get(name) ?? this.steps.find(({ statement }) => statement.name === name)?.statement;
    return first?.text !== text;
  }

  #writeSteps(connection: Connection): void {
    for (const [place, { statement, parameters }] of this.steps.entries()) {
      const { name = '', text } = statement;
      const isNew = !this.#prepared.has(name);
      if (isNew && name !== '') {
        // In place of one that may be there.
        connection.close({ type: 'S', name }, true);
        this.#prepared.set(name, { text });
        this.#fresh.push({ name, place });
      }
      if (isNew) connection.parse({ name, text, types: [] }, true);
      connection.bind({ portal: '', statement: name, values: parameters }, true);
      if (isNew) connection.describe({ type: 'P', name: '' }, true);
      connection.execute({ portal: '' }, true);
    }
    connection.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { name: string; dataTypeID: number }[] }): void {
    const names = fields.map(({ name }) => name);
    this.#shape = {
      names,
      parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text')),
      empty: Object.fromEntries(names.map((name) => [name, null])),
    };
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const step = this.steps[this.#place];
    if (step === undefined || this.#unreadable !== undefined) return;
    this.#shape ??= this.#prepared.get(step.statement.name ?? '')?.shape ?? NO_COLUMNS;
    const { names, parsers, empty } = this.#shape;
    const row = { ...empty };
    try {
      for (let column = 0; column < names.length; column += 1) {
        const text = fields[column];
        row[names[column] as string] = text == null ? null : parsers[column]?.(text);
      }
      step.rows.push(row);
    } catch (cause) {
      this.#unreadable = { error: new Error('a row cannot be read', { cause }), place: this.#place };
    }
  }

  /** Of a text with several commands, the first one answers. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const step = this.steps[this.#place];
    if (step === undefined) return;
    step.tag = text;
    this.#next(step);
  }

  handleEmptyQuery(): void {
    const step = this.steps[this.#place];
    if (step !== undefined) this.#next(step);
  }

  handleReadyForQuery(): void {
    this.#settle(this.#unreadable);
  }

  handleError(error: Error): void {
    const isServers = error instanceof pg.DatabaseError;
    const place = isServers ? Math.min(this.#place, this.steps.length - 1) : 0;
    // Whether the server has prepared what failed, and how its rows look, is not known.
    for (const fresh of this.#fresh) if (fresh.place >= place) this.#prepared.delete(fresh.name);
    // What made one statement stale, as a migration, has made others so.
    if (isStale(error)) this.#prepared.clear();
    this.#settle({ error, place });
  }

  /** The server may have taken the Sync for a part of the copy, and would then never be ready again. */
  handleCopyInResponse({ stream }: Connection): void {
    stream.destroy(new Error('statements here copy nothing in'));
  }

  handleCopyData(): void {}

  #next({ statement: { name } }: Step): void {
    const prepared = name === undefined ? undefined : this.#prepared.get(name);
    if (prepared !== undefined) prepared.shape ??= this.#shape ?? NO_COLUMNS;
    this.#shape = undefined;
    this.#place += 1;
  }
}

/** A statement failed for what its connection had kept of it. It did nothing, and does not fail so when it is sent again. */
export function isStale(error: unknown): boolean {
  return error instanceof pg.DatabaseError && STALE_STATES.has(error.code);
}
