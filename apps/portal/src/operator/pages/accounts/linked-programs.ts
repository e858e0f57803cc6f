import type { AccountLink, AccountLinks } from '../../../api/api-types.ts';

/** A program that has linked the account, or that may not link it any more. */
export interface LinkedProgram {
  readonly programId: string;
  readonly links: readonly AccountLink[];
  /** The time is null unless an operator severed the program from the account. */
  readonly severedAt: string | null;
}

/** Programs in the order of their links, and then programs without links. */
export function linkedProgramsOf({ data, severed }: AccountLinks): readonly LinkedProgram[] {
  const ids = new Set([...data, ...severed].map(({ program_id }) => program_id));
  return [...ids].map((programId) => ({
    programId,
    links: data.filter(({ program_id }) => program_id === programId),
    severedAt: severed.find(({ program_id }) => program_id === programId)?.severed_at ?? null,
  }));
}
