/**
 * The walks over tables of an audit in slices (sliced-audit.ts), and the rules that the audit
 * applies.
 */
import type { Check } from './audit.ts';
import type { Statement } from './step.ts';

/** How a pass reads one table, in the order of a unique uuid. */
export interface Walk {
  readonly name: string;
  /** The most rows of a slice. */
  readonly pageSize: number;
  /** A query of at most `$2` values of `key` above `$1`, in order. */
  readonly page: string;
  /**
   * Queries of rows of `slice (key)` that several rules read, by the name that the rules use. Each
   * query runs once for all rules of the walk.
   */
  readonly shared?: Readonly<Record<string, string>>;
  /**
   * True if a page may have fewer than `pageSize` rows although more rows follow. The walk then
   * ends at an empty page.
   */
  readonly isWeighed?: true;
  /**
   * A query of `(name, key, cents)` over `slice (key)` and `pass` (inSnapshotSql). Its result is
   * added to `audit_sums`.
   */
  readonly sums?: string;
  /** How each run finds new rows; absent if only the pass audits them. */
  readonly tail?: PageTail | KeyTail | InstantTail;
}

/**
 * For an append-only table, from which nothing is deleted: new rows are on the pages at its end.
 * The pages show the order in which the rows were written, which no index shows. `key` is the
 * column of the walk's key.
 */
export interface PageTail {
  readonly table: string;
  readonly key: string;
}

/**
 * For a table whose keys begin with a time: rows that are written at or after an instant have keys
 * of at least `leastKeyAt(instant)`.
 */
export interface KeyTail {
  leastKeyAt(instant: Date): string;
}

/**
 * For a table from which old rows are deleted, and whose keys do not all begin with the time at
 * which the row is written: rows are found by a column of that time.
 */
export interface InstantTail {
  /** A query of the `key` of each row from the instant `$1` up to `$2`, which is excluded. */
  readonly keysBetween: string;
}

/** A violation between two databases. The key of the row is its id. */
interface ComparedRow {
  readonly check: string;
  readonly id: string;
  readonly environment: 'live' | 'test';
}

export interface ComparedSlice {
  /** The last key that was compared; null if no row follows. */
  readonly until: string | null;
  readonly found: readonly ComparedRow[];
}

/** How a pass compares rows with the rows of another database, in id order. */
export interface ComparedWalk {
  readonly name: string;
  /** The most rows of a slice. */
  readonly pageSize: number;
  /** Compares the rows above a key, at most `limit` of each database. */
  compare(after: string, limit: number): Promise<ComparedSlice>;
  /**
   * Returns a key below every id that is created from the instant on. Each run compares the rows
   * above this key.
   */
  leastKeyAt(instant: Date): string;
}

/**
 * A check of an audit in slices. A check without `slices` and `atEnd` runs over whole tables in
 * each run.
 */
export interface SlicedCheck extends Check {
  /**
   * By the name of a walk: the same rule over `slice (key)` and the shared queries of the walk. The
   * query returns the violation's `id` and the `key` of the row in the slice.
   */
  readonly slices?: Readonly<Record<string, string>>;
  /**
   * The part of the rule that compares sums in `audit_sums`: a query like `violations`, at the end
   * of a pass.
   */
  readonly atEnd?: string;
}

export type AnyWalk = Walk | ComparedWalk;

/** A key below every key. Findings at the end of a pass have this key. */
export const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';
/** Much longer than a slice takes, in case the machine is busy. */
export const SLICE_TIMEOUT_MS = 30_000;
/** Switches the compiler off, because compiling a statement takes longer than a slice. */
export const WITHOUT_JIT: Statement = { text: `select set_config('jit', 'off', true)` };
