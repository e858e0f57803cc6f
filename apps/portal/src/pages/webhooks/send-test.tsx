/** `<SendTest endpoint={endpoint} />`: sends a `webhook.test`, and links to its delivery. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { DeliveryReference, WebhookEndpoint } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { useProgram } from '../../layout/program.tsx';

export function SendTest({ endpoint: { id, active } }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { programId, environment } = useProgram();
  const [deliveryId, setDeliveryId] = useState<string>();
  const path = `/webhook-endpoints/${id}`;
  const change = useChange<DeliveryReference>('post', `${path}/test`, [path]);
  const send = async () => {
    const sent = await change.run();
    setDeliveryId(sent?.delivery_id);
  };
  if (!active) return <p className="muted">The endpoint is off: nothing is sent to it, a test event neither.</p>;
  return (
    <div className="live-bar">
      <Button isBusy={change.isRunning} onClick={() => void send()}>
        Send a test event
      </Button>
      <span role="status">
        {deliveryId !== undefined && (
          <>
            Sent:{' '}
            <Link
              to="/p/$programId/$environment/deliveries/$deliveryId"
              params={{ programId, environment, deliveryId }}
            >
              see how it was delivered
            </Link>
          </>
        )}
      </span>
      <FailureLine failure={change.failure} />
    </div>
  );
}
