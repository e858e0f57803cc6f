import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Field } from '../../kit/field.tsx';
import { Section } from '../../kit/page.tsx';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';

export function RetryForm({ sandbox }: { readonly sandbox: Sandbox }): ReactNode {
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
