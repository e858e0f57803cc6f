/**
 * `<DeliveryActions delivery={delivery} />`: sends the delivery again, or makes its next try now.
 */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { DeliveryReference, WebhookDeliveryDetail } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { useProgram } from '../../layout/program.tsx';

interface ActionProps {
  readonly delivery: WebhookDeliveryDetail;
}

export function DeliveryActions({ delivery }: ActionProps): ReactNode {
  return (
    <>
      <RetryNow delivery={delivery} />
      <Resend delivery={delivery} />
    </>
  );
}

/** Retries a failed send in the sandbox, where it need not wait for its next try. */
function RetryNow({ delivery }: ActionProps): ReactNode {
  const { programId, pathOf } = useProgram();
  const { id, status, attempts, environment, program_id: program } = delivery;
  const change = useChange<DeliveryReference>('post', pathOf(`/sandbox/webhook-deliveries/${id}/retry-now`), [
    `/deliveries/${id}`,
  ]);
  const isWaiting = status === 'pending' && attempts.length > 0 && attempts.at(-1)?.duration_ms !== null;
  if (!isWaiting || environment !== 'test' || program !== programId) return null;
  return (
    <>
      <FailureLine failure={change.failure} />
      <Button tone="primary" isBusy={change.isRunning} onClick={() => void change.run()}>
        Try again now
      </Button>
    </>
  );
}

/** Sends the event again as a new delivery, which has its own id; the receiver may get it twice. */
function Resend({ delivery: { id } }: ActionProps): ReactNode {
  const { programId, environment } = useProgram();
  const [deliveryId, setDeliveryId] = useState<string>();
  const change = useChange<DeliveryReference>('post', `/deliveries/${id}/resend`, ['/webhook-endpoints']);
  const resend = async () => setDeliveryId((await change.run())?.delivery_id);
  return (
    <>
      <span role="status">
        {deliveryId !== undefined && (
          <Link to="/p/$programId/$environment/deliveries/$deliveryId" params={{ programId, environment, deliveryId }}>
            See the new delivery
          </Link>
        )}
      </span>
      <FailureLine failure={change.failure} />
      <Button isBusy={change.isRunning} onClick={() => void resend()}>
        Send again
      </Button>
    </>
  );
}
