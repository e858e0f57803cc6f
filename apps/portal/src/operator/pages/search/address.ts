import type { FoundItem } from '../../../api/api-types.ts';

/** A page of the operator. */
export interface Address {
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

/**
 * The page of an item that a search found. An item without a page leads to its attempt, or else to
 * its program.
 */
export function addressOf(item: FoundItem): Address | null {
  const { kind, id, attempt_id: attemptId, program_id: programId, environment } = item;
  switch (kind) {
    case 'attempt':
      return at(`/attempts/${id}`);
    case 'award':
      return at(`/payouts/${id}`);
    case 'account':
      return at(`/accounts/${id}`);
    case 'program':
      return at(`/programs/${id}`);
    case 'challenge':
      return at(`/challenges/${id}`);
    case 'tournament':
      return at(`/tournaments/${id}`);
    case 'round':
      return at(`/rounds/${id}`);
    case 'developer':
      return at('/developers', { email: item.summary });
    case 'player_ref':
      return programId === null || environment === null
        ? null
        : at('/attempts', { program_id: programId, environment, player_ref: id });
    default:
      // A receipt, delivery, event or request leads to its attempt, or to its program.
      if (attemptId !== null) return at(`/attempts/${attemptId}`);
      return programId === null ? null : at(`/programs/${programId}`);
  }
}

function at(to: string, search: Address['search'] = {}): Address {
  return { to, search };
}
