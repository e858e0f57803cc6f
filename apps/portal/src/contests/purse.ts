import type { PurseRow } from '../api/api-types.ts';

export interface PurseGroup {
  readonly first: number;
  readonly last: number;
  readonly amount: string;
}

/** Successive ranks with the same payout are one group: a purse may have thousands of ranks. */
export function groupRanks(purse: readonly PurseRow[]): readonly PurseGroup[] {
  const groups: PurseGroup[] = [];
  for (const { rank, amount } of [...purse].sort((one, other) => one.rank - other.rank)) {
    const group = groups.at(-1);
    if (group !== undefined && group.amount === amount && group.last === rank - 1) {
      groups[groups.length - 1] = { ...group, last: rank };
    } else {
      groups.push({ first: rank, last: rank, amount });
    }
  }
  return groups;
}
