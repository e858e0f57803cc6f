import type { OperatorTournament } from '../../../api/api-types.ts';
import { words } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';

/** The facts on which an action on a tournament depends. */
export const TOURNAMENT_FACTS: readonly Fact<OperatorTournament>[] = [
  { label: 'Status', of: ({ status }) => status },
  { label: 'Latest round', of: ({ current_round: round }) => (round === null ? 'none yet' : words(round.status)) },
];
