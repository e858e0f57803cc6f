/**
 * The status that an operator gives a tournament: pauses, resumes or closes it
 * (docs/contract/portal-api.md, "Tournaments").
 *
 * `paused` opens no new round, and `closed` is final; in both, a running round continues. Setting
 * the current status changes nothing.
 */
import { type Refused, refused } from '@laurel/errors';
import type { TournamentStatus } from './tournament.ts';

export type StatusChange = { readonly kind: 'changed'; readonly status: TournamentStatus };

export function decideStatusChange(status: TournamentStatus, wanted: TournamentStatus): StatusChange | Refused {
  if (status === 'closed' && wanted !== 'closed') return refused('conflict', 'The tournament is closed for good.');
  return { kind: 'changed', status: wanted };
}
