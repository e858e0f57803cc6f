/**
 * An operator pauses, resumes or closes a tournament (portal API, `PATCH /api/operator/tournaments/{id}`).
 *
 * `paused` opens no new round, `closed` is final; the round that is running goes on in either case. Asking for the status that it has
 * changes nothing.
 */
import { type Refused, refused } from '@laurel/errors';
import type { TournamentStatus } from './tournament.ts';

export type StatusChange = { readonly kind: 'changed'; readonly status: TournamentStatus };

export function decideStatusChange(status: TournamentStatus, wanted: TournamentStatus): StatusChange | Refused {
  if (status === 'closed' && wanted !== 'closed') return refused('conflict', 'The tournament is closed for good.');
  return { kind: 'changed', status: wanted };
}
