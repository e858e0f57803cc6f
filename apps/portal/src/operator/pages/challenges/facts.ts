import type { ChallengeWithStatusChange } from '../../../api/api-types.ts';
import type { Fact } from '../../layout/changes-since.ts';

/** The facts on which an action on a challenge depends. */
export const CHALLENGE_FACTS: readonly Fact<ChallengeWithStatusChange>[] = [
  { label: 'Status', of: ({ status }) => status },
];
