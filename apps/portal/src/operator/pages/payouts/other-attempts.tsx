import type { ReactNode } from 'react';
import type { OperatorAttempt, OperatorAttemptLine } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { verdictOf } from '../../../attempts/verdict.ts';
import { Empty } from '../../../kit/empty.tsx';
import { formatScore } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AttemptId } from '../../layout/item-ids.tsx';

const COLUMNS: readonly Column<OperatorAttemptLine>[] = [
  { name: 'Created', cell: (attempt) => <Time at={attempt.created_at} /> },
  { name: 'Attempt', grow: 2, cell: ({ id }) => <AttemptId value={id} isShort /> },
  { name: 'Score', align: 'end', cell: ({ score }) => (score === null ? '–' : formatScore(score)) },
  {
    name: 'Result',
    grow: 2,
    cell: (attempt) => {
      const { text, tone } = verdictOf(attempt);
      return <Status value={text} tone={tone} />;
    },
  },
];

const PAGE_ROWS = 20;

interface OtherAttemptsProps {
  readonly of: OperatorAttempt;
  readonly accountId: string;
}

/** What else the account paid for at the challenge or in the round, newest first. */
export function OtherAttempts({ of, accountId }: OtherAttemptsProps): ReactNode {
  const there =
    of.challenge_id === null
      ? { tournament_round_id: of.tournament_round_id ?? '' }
      : { challenge_id: of.challenge_id };
  const query = { account_id: accountId, ...there, limit: PAGE_ROWS };
  const reading = useList<OperatorAttemptLine>('/attempts', query);
  return (
    <Loaded reading={reading}>
      {(list) => (
        <>
          <Table
            caption="Other attempts of the account there"
            columns={COLUMNS}
            rows={list.rows.filter(({ id }) => id !== of.id)}
            keyOf={({ id }) => id}
            empty={<Empty title="The account has played nothing else there" />}
          />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}
