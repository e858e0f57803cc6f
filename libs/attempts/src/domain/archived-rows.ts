/**
 * Helpers for inspecting an archived month in both services. All files of a month are in the same
 * order, so that an inspection reads them side by side, each once.
 */

/** A row of a file, as PostgreSQL prints it. */
export type ArchivedRow = Readonly<Record<string, unknown>>;

/** The rows of a table's file, in their order. */
export type ArchivedRowsOf = (table: string) => AsyncIterable<ArchivedRow>;

/** A sum over the rows of one table, by columns that have few values. Cents are text. */
export interface Total {
  readonly table: string;
  readonly environment: string;
  readonly status: string;
  readonly rows: number;
  readonly cents: string;
}

/**
 * Verifies signatures with the keys in the file of `signing_keys`. Each of these keys must be in
 * the list that Laurel publishes.
 */
export interface SignatureVerifier {
  /** Adds the key of a row of `signing_keys`. Throws if the key is not listed. */
  put(row: ArchivedRow): void;
  /** Whether the row's `signature` is a signature of the row's key over the text in the column. */
  isGenuine(row: ArchivedRow, column: 'receipt' | 'statement'): boolean;
}

/** Parses a `bytea` as PostgreSQL prints it in JSON. */
export function bytesOf(printed: unknown): Buffer {
  return Buffer.from(String(printed).slice(2), 'hex');
}

/**
 * A cursor over the rows of one file. The caller moves it along with the rows of another file,
 * which leads.
 */
export interface RowWalk extends AsyncDisposable {
  /**
   * Takes the next row if `isWanted` accepts it. Returns null, and keeps the row, if not; null also
   * at the end.
   */
  takeIf(isWanted: (row: ArchivedRow) => boolean): Promise<ArchivedRow | null>;
}

export function walkRows(rows: AsyncIterable<ArchivedRow>): RowWalk {
  const iterator = rows[Symbol.asyncIterator]();
  let ahead: Promise<IteratorResult<ArchivedRow>> | undefined;
  return {
    async takeIf(isWanted) {
      ahead ??= iterator.next();
      const { done, value } = await ahead;
      if (done || !isWanted(value)) return null;
      ahead = undefined;
      return value;
    },
    [Symbol.asyncDispose]: async () => void (await iterator.return?.()),
  };
}

/** Throws if a file has a row that no row of the leading file took. */
export async function expectEnd(table: string, walk: RowWalk): Promise<void> {
  const row = await walk.takeIf(() => true);
  if (row !== null)
    throw new Error(`${table} has a row that belongs to no other: ${JSON.stringify(row).slice(0, 300)}`);
}

/**
 * Throws unless the attempt has an outcome exactly if it is settled, and unless the outcome has a
 * signed receipt of this attempt.
 */
export function verifyOutcome(attempt: ArchivedRow, outcome: ArchivedRow | null, signatures: SignatureVerifier): void {
  if ((attempt.status === 'settled') !== (outcome !== null)) {
    throw new Error(
      `the attempt ${attempt.id} is ${attempt.status}, ${outcome === null ? 'without' : 'with'} an outcome`,
    );
  }
  if (outcome === null) return;
  if (!signatures.isGenuine(outcome, 'receipt')) {
    throw new Error(`the receipt ${outcome.receipt_id} was not signed as it is`);
  }
  const signed = JSON.parse(String(outcome.receipt)) as ArchivedRow;
  if (signed.attempt_id !== attempt.id || signed.receipt_id !== outcome.receipt_id || signed.score !== outcome.score) {
    throw new Error(`the receipt ${outcome.receipt_id} is not that of its outcome`);
  }
}

/** Adds up rows by table, environment and status. */
export class Totals {
  readonly #totals = new Map<string, Total>();

  /** Throws if the cents are not a whole number that a double represents exactly. */
  add(table: string, { environment, status, cents }: { environment: string; status: unknown; cents: unknown }): void {
    if (!Number.isSafeInteger(cents)) throw new Error(`a row of ${table} has ${cents} cents`);
    const key = `${table} ${environment} ${status}`;
    const before = this.#totals.get(key);
    this.#totals.set(key, {
      table,
      environment,
      status: String(status),
      rows: (before?.rows ?? 0) + 1,
      cents: String(BigInt(before?.cents ?? 0) + BigInt(Number(cents))),
    });
  }

  list(): readonly Total[] {
    return [...this.#totals.values()];
  }
}
