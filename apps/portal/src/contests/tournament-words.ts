/** What the state of a tournament or a round means, in words. */
import type { Round, TournamentStatus } from '../api/api-types.ts';

export function tournamentWords(status: TournamentStatus): string {
  return {
    active: 'Its rounds open, and players can enter them.',
    paused: 'No further round opens until an operator of this host resumes it. A round that is open goes on.',
    closed: 'It is closed for good: no further round opens.',
  }[status];
}

type Times = Pick<Round, 'status' | 'entries_close_at' | 'closes_at'>;

export function roundWords({ status, entries_close_at, closes_at }: Times, now: number): string {
  switch (status) {
    case 'open':
      if (now < Date.parse(entries_close_at)) return 'Players enter it and play.';
      return now < Date.parse(closes_at)
        ? 'Entries have closed. Open attempts are still played and scored.'
        : 'It has closed, and is settled next.';
    case 'settling':
      return 'It has closed. Laurel ranks the runs and pays the purse.';
    case 'settled':
      return 'The standings are final, and each rank has its payout.';
    case 'cancelled':
      return 'It had too few entrants or scores, or an operator cancelled it. There is no winner, and every fee is returned.';
  }
}
