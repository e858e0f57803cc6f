/** What an audit in slices (sliced-audit.ts) reads, and the rules that it applies. */
import type { Check } from './audit.ts';
import type { Statement } from './step.ts';

/** How a pass reads one table, in the order of a unique uuid. */
export interface Walk {
  readonly name: string;
  /** Rows of a slice. */
  readonly pageSize: number;
  /** A query of `key` above `$1`, in its order, at most `$2`. */
  readonly page: string;
  /**
   * Queries of rows of `slice (key)` that several rules read, by the name that the rules give them:
   * each is read once for all rules of the walk.
   */
  readonly shared?: Readonly<Record<string, string>>;
  /** A page may have fewer rows although more follow: the last one is empty. */
  readonly isWeighed?: true;
  /**
   * A query of `(name, key, cents)` over `slice (key)` and `pass` (IN_SNAPSHOT), which is added to
   * `audit_sums`.
   */
  readonly sums?: string;
  /** How each run finds the new rows, which it audits. */
  readonly tail?: PageTail | KeyTail;
}

/**
 * New rows are at the end of an append-only table, from which nothing is deleted. Its pages stand
 * for the order in which its rows were written, which no index does. `key` is the column of the
 * walk's key.
 */
export interface PageTail {
  readonly table: string;
  readonly key: string;
}

/** New rows have keys that begin with a time: no less than this one, if written at the instant. */
export interface KeyTail {
  leastKeyAt(instant: Date): string;
}

/** A violation between two databases, by a row whose key is its id. */
interface ComparedRow {
  readonly check: string;
  readonly id: string;
  readonly environment: 'live' | 'test';
}

export interface ComparedSlice {
  /** The last key that was compared; null behind the last row. */
  readonly until: string | null;
  readonly found: readonly ComparedRow[];
}

/** How a pass compares rows with those of another database, in the order of their ids. */
export interface ComparedWalk {
  readonly name: string;
  /** Rows of a slice. */
  readonly pageSize: number;
  /** Compares the rows above a key, at most `limit` of each database. */
  compare(after: string, limit: number): Promise<ComparedSlice>;
  /** A key below every id that is made from the instant on. Each run compares the rows above it. */
  leastKeyAt(instant: Date): string;
}

/** A check without `slices` and `atEnd` runs as a whole in each run. */
export interface SlicedCheck extends Check {
  /**
   * By the name of a walk, the same rule over the rows of `slice (key)` and what the walk shares. A
   * row of the query has the violation's `id` and the `key` of the row in the slice.
   */
  readonly slices?: Readonly<Record<string, string>>;
  /** The part of the rule that compares `audit_sums`, a query like `violations`. */
  readonly atEnd?: string;
}

export type AnyWalk = Walk | ComparedWalk;

/** Below every key; also the key of what the end of a pass finds. */
export const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';
/** Well above what a slice takes, for a machine that is busy. */
export const SLICE_TIMEOUT_MS = 30_000;
/** Compiling statements costs more than a slice takes. */
export const WITHOUT_JIT: Statement = { text: `select set_config('jit', 'off', true)` };
