/** The rows of the one table that the part prints. */
export interface Figure {
  readonly name: string;
  readonly seconds?: number;
  readonly perSecond?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly mib?: number;
  readonly note?: string;
}

export function tableOf(title: string, figures: readonly Figure[]): (string | number)[][] {
  return [
    [title, 'seconds', '/s', 'p50 ms', 'p99 ms', 'MiB', ''],
    ...figures.map(({ name, seconds, perSecond, p50Ms, p99Ms, mib, note }) => [
      name,
      seconds ?? '',
      perSecond === undefined ? '' : Math.round(perSecond),
      p50Ms ?? '',
      p99Ms ?? '',
      mib === undefined ? '' : Math.round(mib),
      note ?? '',
    ]),
  ];
}
