/** What belongs to an attempt: the player's other ones in the contest, its webhooks, the actions. */
import type { ReactNode } from 'react';
import type { AttemptDelivery, OperatorAction, OperatorAttempt, OperatorAttemptLine } from '../../../api/api-types.ts';
import type { Query } from '../../../api/client.ts';
import { useList } from '../../../api/use-read.ts';
import { contestOf } from '../../../attempts/contest-of.ts';
import { LastAnswer } from '../../../attempts/last-answer.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { shortId } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { ActionTable } from '../actions/action-table.tsx';
import { CONTEST_COLUMNS } from './columns.tsx';

export function OtherAttemptsSection({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const attempts = useList<OperatorAttemptLine>('/attempts', inContestOf(attempt));
  const contest = contestOf(attempt);
  return (
    <Section title={`The player’s other attempts in this ${contest}`}>
      <Loaded reading={attempts}>
        {(list) => (
          <>
            <Table
              caption={`The player’s other attempts in this ${contest}`}
              columns={CONTEST_COLUMNS}
              rows={list.rows.filter(({ id }) => id !== attempt.id)}
              keyOf={({ id }) => id}
              empty={<Empty title={list.hasMore ? 'None among the newest' : `No other attempt in this ${contest}`} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** By account, so that a player with two refs is one player. */
function inContestOf(attempt: OperatorAttempt): Query {
  const contest = {
    challenge_id: attempt.challenge_id ?? undefined,
    tournament_round_id: attempt.tournament_round_id ?? undefined,
  };
  if (attempt.account_id !== null) return { ...contest, account_id: attempt.account_id };
  const { program_id, environment, player_ref } = attempt;
  return { ...contest, program_id, environment, player_ref };
}

const DELIVERY_COLUMNS: readonly Column<AttemptDelivery>[] = [
  { name: 'Event', cell: ({ event }) => <code>{event}</code> },
  {
    name: 'Delivery',
    cell: ({ id }) => (
      <Id value={id} what="delivery">
        <code>{shortId(id)}</code>
      </Id>
    ),
  },
  {
    name: 'Endpoint',
    cell: ({ endpoint_id: id }) => (
      <Id value={id} what="endpoint">
        <code>{shortId(id)}</code>
      </Id>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Last answer', cell: ({ attempts }) => <LastAnswer attempts={attempts} /> },
  { name: 'Created', align: 'end', cell: (delivery) => <Time at={delivery.created_at} /> },
];

export function DeliveriesSection({ deliveries }: { readonly deliveries: readonly AttemptDelivery[] }): ReactNode {
  return (
    <Section title="Webhooks">
      <Table
        caption="Webhooks of the attempt"
        columns={DELIVERY_COLUMNS}
        rows={deliveries}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No webhook for this attempt">
            <p>
              The program has no developer, none of its endpoints subscribes to an event of the attempt, or none has
              happened.
            </p>
          </Empty>
        }
      />
    </Section>
  );
}

export function ActionsSection({ attemptId }: { readonly attemptId: string }): ReactNode {
  const actions = useList<OperatorAction>('/actions', { subject: `attempt:${attemptId}` });
  return (
    <Section title="What operators did">
      <Loaded reading={actions}>
        {(list) => (
          <>
            <ActionTable
              rows={list.rows}
              empty={
                <Empty title="No operator has changed the attempt">
                  <p>A deposit that makes it good is an action on its account.</p>
                </Empty>
              }
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
