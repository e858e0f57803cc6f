/**
 * The part of `pg` that this library uses beyond its documented calls: the interface of an object
 * that `client.query` accepts in place of a text. `pg` calls `submit` when the connection is free,
 * then one handler for each message of the server, until ReadyForQuery or an error. Its own
 * `Query`, pg-cursor and pg-query-stream use the same interface. `@types/pg` declares only
 * `submit`, so this file declares the rest.
 *
 * `verifyDriver` checks the installed `pg` when a pool is made; `driver.test.ts` checks which calls
 * `pg` makes, and in which order. Decision 11 says how to do without this interface.
 */
import './no-libpq-environment.ts';
import pg, { type Client, type Connection, type Submittable } from 'pg';

export interface DriverQuery extends Submittable {
  /** Writes to the connection. If it returns an error, nothing was sent and the query fails. */
  submit(connection: Connection): Error | undefined;
  handleRowDescription(message: RowDescription): void;
  handleDataRow(message: DataRow): void;
  handleCommandComplete(message: CommandComplete): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(): void;
  handleCopyData(): void;
  /** The last call if the server failed the query or the connection broke. */
  handleError(error: Error): void;
  /** The last call of a query that did not fail. */
  handleReadyForQuery(): void;
}

export interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

export interface DataRow {
  readonly fields: readonly (string | null)[];
}

export interface CommandComplete {
  readonly text: string;
}

const CLIENT_METHODS = ['connect', 'end', 'getTransactionStatus', 'query'] as const satisfies readonly (keyof Client)[];

const CONNECTION_METHODS = [
  'bind',
  'close',
  'describe',
  'execute',
  'parse',
  'query',
  'sync',
] as const satisfies readonly (keyof Connection)[];

/** A record of all handlers, so that the compiler finds a missing or surplus one. */
const HANDLERS: Readonly<Record<Exclude<keyof DriverQuery, 'submit'>, true>> = {
  handleRowDescription: true,
  handleDataRow: true,
  handleCommandComplete: true,
  handleEmptyQuery: true,
  handlePortalSuspended: true,
  handleCopyInResponse: true,
  handleCopyData: true,
  handleError: true,
  handleReadyForQuery: true,
};

/** The parts of a driver that `verifyDriver` checks. */
export interface DriverShape {
  readonly client: object;
  readonly connection: object | undefined;
  /** The handlers of the driver's own query: what a client may call. */
  readonly handlers: readonly string[];
}

/**
 * Throws when the installed `pg` lacks the interface that the pipelines need: at the start rather
 * than during a payment.
 */
export function verifyDriver(shape: DriverShape = installedShape()): void {
  const { client, connection, handlers } = shape;
  const differences = [
    ...missing('Client', client, CLIENT_METHODS),
    ...(connection === undefined
      ? ['Client.connection is missing']
      : missing('Connection', connection, CONNECTION_METHODS)),
    ...Object.keys(HANDLERS).flatMap((name) => (handlers.includes(name) ? [] : `Query.${name} is missing`)),
    ...handlers.flatMap((name) => (name in HANDLERS ? [] : `Query.${name} is new, and a pipeline does not handle it`)),
  ];
  if (differences.length === 0) return;
  throw new Error(`libs/postgres does not support this version of pg (decision 11): ${differences.join('; ')}`);
}

/** Ends the connection immediately, without a message to the server. */
export function destroyConnection(client: Client, cause: Error): void {
  client.connection.stream.destroy(cause);
}

function installedShape(): DriverShape {
  const client = new pg.Client();
  const handlers = Object.getOwnPropertyNames(pg.Query.prototype).filter((name) => name.startsWith('handle'));
  return { client, connection: client.connection, handlers };
}

function missing(owner: string, object: object, methods: readonly string[]): string[] {
  return methods.flatMap((name) =>
    typeof Reflect.get(object, name) === 'function' ? [] : `${owner}.${name} is missing`,
  );
}
