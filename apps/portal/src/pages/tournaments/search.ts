import type { TournamentStatus } from '../../api/api-types.ts';
import { choice, filters } from '../../kit/filters.ts';

export const STATUSES = ['active', 'paused', 'closed'] as const satisfies readonly TournamentStatus[];

export const readSearch = filters({ status: choice(...STATUSES) });
