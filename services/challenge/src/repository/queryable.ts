/** A database or one of its transactions: what a statement runs on. */
import type { Database, Transaction } from '@laurel/postgres';

export type Queryable = Pick<Database, 'query'> | Transaction;
