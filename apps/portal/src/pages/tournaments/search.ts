import { TOURNAMENT_STATUSES } from '../../contests/statuses.ts';
import { choice, filters } from '../../kit/filters.ts';

export const readSearch = filters({ status: choice(...TOURNAMENT_STATUSES) });
