import { type FormEvent, type ReactNode, useState } from 'react';
import type { DescribedAttempt } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { Field } from '../../kit/field.tsx';
import { Section } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';
import { lastAttemptOf, useVisit } from './visit.ts';

const REFRESH_MS = 5_000;

export function RetryForm({ sandbox }: { readonly sandbox: Sandbox }): ReactNode {
  const { programId } = useProgram();
  const attemptId = lastAttemptOf(useVisit(programId).steps);
  const [deliveryId, setDeliveryId] = useState('');
  const retry = (event: FormEvent) => {
    event.preventDefault();
    sandbox.run({ kind: 'retry-delivery', deliveryId });
  };
  return (
    <Section title="Webhook delivery">
      <form className="sandbox-form" onSubmit={retry}>
        <Field
          label="Delivery id"
          hint="A delivery that waits for its next send: its id is in the log of its endpoint."
          value={deliveryId}
          onChange={(event) => setDeliveryId(event.target.value.trim())}
          required
          spellCheck={false}
        />
        {attemptId !== undefined && <Waiting attemptId={attemptId} onChoose={setDeliveryId} />}
        <div className="sandbox-buttons">
          <Button type="submit" isBusy={sandbox.running === 'retry-delivery'}>
            Retry it now
          </Button>
        </div>
        <LastResult kinds={['retry-delivery']} />
      </form>
    </Section>
  );
}

interface WaitingProps {
  readonly attemptId: string;
  readonly onChoose: (deliveryId: string) => void;
}

/** The deliveries of the attempt that have failed and wait for their next send. */
function Waiting({ attemptId, onChoose }: WaitingProps): ReactNode {
  const { pathOf } = useProgram();
  const attempt = useRead<DescribedAttempt>(pathOf(`/attempts/${attemptId}`), {}, { refreshMs: REFRESH_MS });
  if (attempt.state !== 'loaded') return null;
  const waiting = attempt.data.deliveries.filter(({ status, attempts }) => status === 'pending' && attempts.length > 0);
  if (waiting.length === 0) return null;
  return (
    <ul className="sandbox-waiting" aria-label="Deliveries of the last attempt that wait">
      {waiting.map(({ id, event, next_attempt_at: next }) => (
        <li key={id}>
          <Button onClick={() => onChoose(id)}>Take {event}</Button>
          <span>
            next send <Time at={next} />
          </span>
        </li>
      ))}
    </ul>
  );
}
