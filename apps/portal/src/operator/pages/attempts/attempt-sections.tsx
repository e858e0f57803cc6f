/** The webhooks of an attempt, and what operators did to it. */
import type { ReactNode } from 'react';
import type { AttemptDelivery, OperatorAction } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
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
              The program has no developer, no endpoint subscribes to an event of the attempt, or none has happened.
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
