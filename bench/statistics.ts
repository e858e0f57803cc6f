/** Latencies of one run, in milliseconds. */
export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Nearest-rank percentiles; all zero for an empty run. */
export function percentiles(latenciesMs: readonly number[]): Percentiles {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

/** The median; for an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

/**
 * The geometric mean of positive values, and the standard error of the mean of their logarithms.
 */
export function geometricMean(values: readonly number[]): { mean: number; standardErrorOfLog: number } {
  const logs = values.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  return { mean: Math.exp(mean), standardErrorOfLog: Math.sqrt(squares / (logs.length - 1) / logs.length) };
}

/** A plain text table: first row is the head, numbers are right-aligned. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value >= 100 ? 0 : 2);
}
