import type { ChallengeStatus } from '../../api/api-types.ts';
import { choice, filters } from '../../kit/filters.ts';

export const STATUSES = ['calibrating', 'live', 'suspended', 'closed'] as const satisfies readonly ChallengeStatus[];

export const readSearch = filters({ status: choice(...STATUSES) });
