import { type Parameter, toParameter } from './parameter.ts';

/**
 * A statement with a name is prepared once per connection; one name has one text. A statement
 * without name and values may hold several commands if it is sent alone.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** The most values that the protocol can count. */
const MAX_PARAMETERS = 65_535;

/** One execution of a statement, and the server's result. */
export class Step {
  readonly statement: Statement;
  readonly parameters: Parameter[];
  rows: unknown[] = [];
  /** The command tag of the server: `COMMIT` or `INSERT 0 1`. */
  tag = '';

  constructor(statement: Statement, values: readonly unknown[] = []) {
    if (values.length > MAX_PARAMETERS) throw new Error(`more than ${MAX_PARAMETERS} values: ${statement.text}`);
    this.statement = statement;
    this.parameters = values.map(toParameter);
  }
}
