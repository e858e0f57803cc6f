/** The columns that all lists of challenges share, between the link and a page's own columns. */
import type { OperatorChallenge } from '../api/api-types.ts';
import { formatShare } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Status } from '../kit/status.tsx';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { barWords } from './challenge-words.ts';
import { Prize } from './prize.tsx';

export const CHALLENGE_COLUMNS: readonly Column<OperatorChallenge>[] = [
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Fee', align: 'end', cell: ({ fee }) => <Money amount={fee} /> },
  { name: 'Prize on offer', align: 'end', cell: (challenge) => <Prize challenge={challenge} /> },
  { name: 'Bar', cell: barWords },
  { name: 'Target pass rate', align: 'end', cell: ({ target_pass_rate }) => formatShare(target_pass_rate) },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];
