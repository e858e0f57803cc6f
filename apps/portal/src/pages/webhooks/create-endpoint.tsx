/** `<CreateEndpoint />`: a button, the dialog that registers an endpoint, and its secret, once. */
import { type ReactNode, useState } from 'react';
import type { WebhookEndpointRequest, WebhookEndpointWithSecret } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../kit/dialog.tsx';
import { SelectField } from '../../kit/field.tsx';
import { useProgram } from '../../layout/program.tsx';
import { type EndpointDraft, EndpointFields } from './endpoint-fields.tsx';

const EMPTY: EndpointDraft = { url: '', events: [], description: '' };

export function CreateEndpoint(): ReactNode {
  const { program, environment } = useProgram();
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState(EMPTY);
  const [programs, setPrograms] = useState<'this' | 'every'>('this');
  const [environments, setEnvironments] = useState<'this' | 'both'>('this');
  const [secret, setSecret] = useState<string>();
  const change = useChange<WebhookEndpointWithSecret>('post', '/webhook-endpoints', ['/webhook-endpoints']);
  const close = () => {
    setOpen(false);
    change.reset();
  };
  const create = async () => {
    const body: WebhookEndpointRequest = {
      ...draft,
      events: [...draft.events],
      ...(programs === 'this' && { program_id: program.id }),
      ...(environments === 'this' && { environment }),
    };
    const created = await change.run(body);
    if (created === undefined) return;
    close();
    setDraft(EMPTY);
    setSecret(created.signing_secret);
  };
  return (
    <>
      <Button tone="primary" onClick={() => setOpen(true)}>
        Add an endpoint
      </Button>
      <ConfirmDialog
        title="Add an endpoint"
        consequence="It gets events that happen from now on. Its signing secret is shown once, afterwards."
        confirm="Add"
        tone="primary"
        isOpen={isOpen}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void create()}
        onClose={close}
      >
        <EndpointFields value={draft} onChange={setDraft} />
        <SelectField
          label="Programs"
          value={programs}
          onChange={({ target }) => setPrograms(target.value === 'every' ? 'every' : 'this')}
          options={[
            { value: 'this', label: `Only ${program.name}` },
            { value: 'every', label: 'Every program of yours' },
          ]}
        />
        <SelectField
          label="Environment"
          value={environments}
          onChange={({ target }) => setEnvironments(target.value === 'both' ? 'both' : 'this')}
          options={[
            { value: 'this', label: `Only ${environment}` },
            { value: 'both', label: 'Test and live' },
          ]}
        />
      </ConfirmDialog>
      <SecretDialog title="The signing secret" secret={secret} onClose={() => setSecret(undefined)}>
        Your server verifies webhooks with it. Store it where your server reads its secrets: it is not shown again.
      </SecretDialog>
    </>
  );
}
