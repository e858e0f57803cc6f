import type { OperatorAttempt } from '../../../api/api-types.ts';
import { formatScore } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';
import { goodwillWords } from './goodwill.ts';

/** The facts on which a void or a deposit depends. */
export const ATTEMPT_FACTS: readonly Fact<OperatorAttempt>[] = [
  { label: 'Status', of: ({ status }) => status },
  { label: 'Outcome', of: ({ outcome }) => (outcome === null ? 'none' : `score ${formatScore(outcome.score)}`) },
  { label: 'Made good with', of: goodwillWords },
];
