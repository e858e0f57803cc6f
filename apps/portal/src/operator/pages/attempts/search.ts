import { ATTEMPT_STATUSES } from '../../../attempts/filters.ts';
import { choice, filters, id, text } from '../../../kit/filters.ts';

export const ENVIRONMENTS = ['live', 'test'] as const;

export const readSearch = filters({
  program_id: id(),
  environment: choice(...ENVIRONMENTS),
  account_id: id(),
  status: choice(...ATTEMPT_STATUSES),
  player_ref: text(),
  challenge_id: id(),
  tournament_round_id: id(),
});

export type AttemptSearch = ReturnType<typeof readSearch>;

/** The query of the list, or what it still needs: Laurel lists a program or an account. */
export type AttemptQuery =
  | { readonly kind: 'complete'; readonly query: AttemptSearch }
  | { readonly kind: 'needs'; readonly what: 'program' | 'environment' };

export function queryOf(search: AttemptSearch): AttemptQuery {
  const { program_id: programId, environment, account_id: accountId } = search;
  if (programId !== undefined)
    return environment === undefined ? { kind: 'needs', what: 'environment' } : { kind: 'complete', query: search };
  if (accountId === undefined) return { kind: 'needs', what: 'program' };
  // An account has money of one environment only, so the filter is not sent.
  return { kind: 'complete', query: { ...search, environment: undefined } };
}
