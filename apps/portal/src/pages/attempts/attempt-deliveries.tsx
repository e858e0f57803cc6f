import { type ReactNode, useMemo, useState } from 'react';
import type { AttemptDelivery, DeliveryReference } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { LastAnswer } from '../../attempts/last-answer.tsx';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Empty } from '../../kit/empty.tsx';
import { shortId } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';

interface AttemptDeliveriesProps {
  readonly deliveries: readonly AttemptDelivery[];
  /** The path to read again after a resend. */
  readonly attemptPath: string;
}

export function AttemptDeliveries({ deliveries, attemptPath }: AttemptDeliveriesProps): ReactNode {
  const columns = useMemo(() => columnsOf(attemptPath), [attemptPath]);
  return (
    <Table
      caption="Webhooks of the attempt"
      columns={columns}
      rows={deliveries}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No webhook for this attempt">
          <p>
            Either nothing has happened that an event is sent for, or no endpoint subscribes to it.{' '}
            <ProgramLink path="/webhooks">Webhook endpoints</ProgramLink>
          </p>
        </Empty>
      }
    />
  );
}

function columnsOf(attemptPath: string): readonly Column<AttemptDelivery>[] {
  return [
    { name: 'Event', cell: ({ event }) => <code>{event}</code> },
    {
      name: 'Delivery',
      cell: ({ id }) => (
        <Id value={id} what="delivery">
          <ProgramLink path={`/deliveries/${id}`}>
            <code>{shortId(id)}</code>
          </ProgramLink>
        </Id>
      ),
    },
    {
      name: 'Endpoint',
      cell: ({ endpoint_id: id }) => (
        <Id value={id} what="endpoint">
          <ProgramLink path={`/webhooks/${id}`}>
            <code>{shortId(id)}</code>
          </ProgramLink>
        </Id>
      ),
    },
    { name: 'Status', cell: ({ status }) => <Status value={status} /> },
    { name: 'Last answer', cell: ({ attempts }) => <LastAnswer attempts={attempts} /> },
    { name: 'Created', cell: (delivery) => <Time at={delivery.created_at} /> },
    { name: 'Again', cell: (delivery) => <Resend delivery={delivery} attemptPath={attemptPath} /> },
  ];
}

interface ResendProps {
  readonly delivery: AttemptDelivery;
  readonly attemptPath: string;
}

function Resend({ delivery: { id, event }, attemptPath }: ResendProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [resent, setResent] = useState<string>();
  const change = useChange<DeliveryReference>('post', `/deliveries/${id}/resend`, [attemptPath, '/webhook-endpoints']);
  const close = () => {
    setAsking(false);
    change.reset();
  };
  const resend = async () => {
    const created = await change.run();
    if (created === undefined) return;
    close();
    setResent(created.delivery_id);
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>Resend</Button>
      <p role="status">
        {resent !== undefined && (
          <ProgramLink path={`/deliveries/${resent}`}>{`Resent as ${shortId(resent)}`}</ProgramLink>
        )}
      </p>
      <ConfirmDialog
        title="Send the webhook again?"
        consequence={`The endpoint gets the same ${event} again, in a new delivery. A server that has handled it must ignore the repetition.`}
        confirm="Send again"
        tone="primary"
        isOpen={isAsking}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void resend()}
        onClose={close}
      />
    </>
  );
}
