import { type FormEvent, type ReactNode, useState } from 'react';
import type { CreatedIntegration, Transport } from '../../api/api-types.ts';
import { JsonText } from '../../api/client.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog, SecretDialog } from '../../kit/dialog.tsx';
import { Field, SelectField } from '../../kit/field.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { useProgram } from '../../layout/program.tsx';
import { DescriptorField } from './descriptor-field.tsx';
import { checkDescriptor } from './json-check.ts';
import { firstDescriptor, TRANSPORTS } from './transports.ts';

export function CreateIntegration(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<CreatedIntegration>();
  const close = () => setOpen(false);
  return (
    <>
      <Button tone="primary" onClick={() => setOpen(true)}>
        New integration
      </Button>
      <Dialog title="New integration" isOpen={isOpen} onClose={close}>
        <CreateForm
          onCancel={close}
          onCreated={(integration) => {
            close();
            setCreated(integration);
          }}
        />
      </Dialog>
      <SecretDialog title="The signing secret" secret={created?.signing_secret} onClose={() => setCreated(undefined)}>
        Store it where your server signs its pushes; all 64 characters are the key. It is not shown again. The page of
        the integration shows how a push is signed and where it goes.
      </SecretDialog>
    </>
  );
}

interface CreateFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (integration: CreatedIntegration) => void;
}

function CreateForm({ onCancel, onCreated }: CreateFormProps): ReactNode {
  const { environment, pathOf } = useProgram();
  const [transport, setTransport] = useState<Transport>('push_webhook');
  const [descriptor, setDescriptor] = useState(() => firstDescriptor('push_webhook'));
  const [interval, setInterval] = useState('60');
  const change = useChange<CreatedIntegration>('post', pathOf('/integrations'), [pathOf('/integrations')]);
  const choose = (next: Transport) => {
    // Until the developer edits the descriptor, it changes with the transport.
    if (descriptor === firstDescriptor(transport)) setDescriptor(firstDescriptor(next));
    setTransport(next);
  };
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const rest = JSON.stringify({
      environment,
      transport,
      ...(transport === 'pull_poll' && { pull_interval_seconds: Number(interval) }),
    });
    const created = await change.run(new JsonText(`${rest.slice(0, -1)},"descriptor":${descriptor}}`));
    if (created !== undefined) onCreated(created);
  };
  return (
    <form className="form" onSubmit={(event) => void create(event)}>
      <SelectField
        label="Transport"
        hint={TRANSPORTS.find(({ value }) => value === transport)?.hint ?? ''}
        options={TRANSPORTS}
        value={transport}
        onChange={(event) => choose(event.target.value as Transport)}
      />
      {transport === 'pull_poll' && (
        <Field
          label="Interval (seconds)"
          hint="At least 30."
          type="number"
          min={30}
          step={1}
          required
          value={interval}
          onChange={(event) => setInterval(event.target.value)}
        />
      )}
      <DescriptorField value={descriptor} onChange={setDescriptor} />
      <p className="hint">It begins as a draft: Laurel reads nothing until you activate it.</p>
      <FailureLine failure={change.failure} />
      <div className="dialog-actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button
          type="submit"
          tone="primary"
          disabled={checkDescriptor(descriptor).error !== undefined}
          isBusy={change.isRunning}
        >
          Create the draft
        </Button>
      </div>
    </form>
  );
}
