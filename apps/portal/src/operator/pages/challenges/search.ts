import { CHALLENGE_STATUSES } from '../../../contests/statuses.ts';
import { choice, filters } from '../../../kit/filters.ts';
import { ENVIRONMENTS } from '../../layout/environments.tsx';

export const readSearch = filters({ environment: choice(...ENVIRONMENTS), status: choice(...CHALLENGE_STATUSES) });
