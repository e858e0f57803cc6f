import type { ReactNode } from 'react';
import type { OperatorAttempt, OperatorAttemptLine } from '../../../api/api-types.ts';
import type { Query } from '../../../api/client.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { More, Table } from '../../../kit/table.tsx';
import { CONTEST_COLUMNS } from './columns.tsx';

const PAGE_ROWS = 20;

/** Shows what else the player of an attempt has played at its contest, newest first. */
export function OtherAttempts({ of }: { readonly of: OperatorAttempt }): ReactNode {
  const attempts = useList<OperatorAttemptLine>('/attempts', { ...playerOf(of), ...contestOf(of), limit: PAGE_ROWS });
  return (
    <Loaded reading={attempts}>
      {(list) => (
        <>
          <Table
            caption="The player’s other attempts there"
            columns={CONTEST_COLUMNS}
            rows={list.rows.filter(({ id }) => id !== of.id)}
            keyOf={({ id }) => id}
            empty={
              <Empty title={list.hasMore ? 'None among the newest' : 'The player has played nothing else there'} />
            }
          />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}

/** Returns the player by account, so that a player with two refs is one player. */
function playerOf({ account_id: accountId, program_id, environment, player_ref }: OperatorAttempt): Query {
  return accountId === null ? { program_id, environment, player_ref } : { account_id: accountId };
}

function contestOf({ challenge_id: challengeId, tournament_round_id: roundId }: OperatorAttempt): Query {
  return { challenge_id: challengeId ?? undefined, tournament_round_id: roundId ?? undefined };
}
