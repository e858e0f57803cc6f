/**
 * A month of the archive, in UTC. Each service determines which of its rows belong to the month.
 */
import { leastIdAt } from '@laurel/values/ids';
import { isBefore, later } from '@laurel/values/instant';

export interface Month {
  /** As `2026-01`. */
  readonly name: string;
  readonly from: Date;
  /** The first instant after the month. */
  readonly until: Date;
  /** An id below every id of the month, and above every id of earlier months. */
  readonly leastId: string;
  /** An id above every id of the month. */
  readonly endId: string;
}

const NAME = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** Returns the named month; null if the text names no month. */
export function monthOf(name: string): Month | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  return newMonth(Number(match[1]), Number(match[2]) - 1);
}

export function monthAt(instant: Date): Month {
  return newMonth(instant.getUTCFullYear(), instant.getUTCMonth());
}

export function monthBefore({ from }: Month): Month {
  return monthAt(later(from, -1));
}

/** Returns the months that begin before `before`, from the month of the first instant on. */
export function monthsBetween(first: Date, before: Date): readonly Month[] {
  const months: Month[] = [];
  for (let month = monthAt(first); isBefore(month.from, before); month = monthAt(month.until)) months.push(month);
  return months;
}

function newMonth(year: number, index: number): Month {
  const from = new Date(Date.UTC(year, index));
  const until = new Date(Date.UTC(year, index + 1));
  return {
    name: from.toISOString().slice(0, 7),
    from,
    until,
    leastId: leastIdAt(from),
    endId: leastIdAt(until),
  };
}
