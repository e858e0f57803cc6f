/** Statements that an attacker sends with a database URL, and how the database refuses them. */
import pg from 'pg';

/** The SQLSTATE of a missing privilege. */
export const REFUSED = '42501';
/** The SQLSTATE of a trigger that makes a record immutable, and of a function that refuses. */
export const RESTRICTED = '23001';

const OUTSIDE_TRANSACTIONS = /^(create database|alter system)/;

export async function logIn(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** The SQLSTATE with which a statement is refused; undefined if it succeeds. Commits nothing. */
export async function refusalBy(url: string, statement: string): Promise<string | undefined> {
  const client = await logIn(url);
  try {
    if (!OUTSIDE_TRANSACTIONS.test(statement)) await client.query('begin');
    await client.query(statement);
    return undefined;
  } catch (error) {
    return (error as pg.DatabaseError).code;
  } finally {
    await client.query('rollback');
    await client.end();
  }
}
