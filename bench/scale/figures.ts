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

/** Prints each figure as soon as it is measured: a later part of a long run may fail. */
export function printFigures<Figures extends readonly Figure[]>(figures: Figures): Figures {
  for (const { name, seconds, perSecond, p50Ms, p99Ms, mib, note } of figures) {
    const values = [
      seconds !== undefined && `${seconds.toFixed(1)} s`,
      perSecond !== undefined && `${perSecond.toFixed(0)}/s`,
      p50Ms !== undefined && `p50 ${p50Ms.toFixed(1)} ms`,
      p99Ms !== undefined && `p99 ${p99Ms.toFixed(1)} ms`,
      mib !== undefined && `${mib.toFixed(0)} MiB`,
      note,
    ];
    console.log(`  ${name}: ${values.filter((value) => typeof value === 'string').join(', ')}`);
  }
  return figures;
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
