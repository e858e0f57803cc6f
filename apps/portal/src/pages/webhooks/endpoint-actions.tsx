/** `<EndpointActions endpoint={endpoint} />`: the actions on an endpoint, each with a dialog. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { WebhookEndpoint, WebhookEndpointChange, WebhookEndpointWithSecret } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../kit/dialog.tsx';
import { useProgram } from '../../layout/program.tsx';
import { type EndpointDraft, EndpointFields } from './endpoint-fields.tsx';

interface ActionProps {
  readonly endpoint: WebhookEndpoint;
}

const LIST = '/webhook-endpoints';

export function EndpointActions({ endpoint }: ActionProps): ReactNode {
  return (
    <>
      <ChangeEndpoint endpoint={endpoint} />
      <SwitchEndpoint endpoint={endpoint} />
      <RotateSecret endpoint={endpoint} />
      <DeleteEndpoint endpoint={endpoint} />
    </>
  );
}

function ChangeEndpoint({ endpoint: { id, url, events, description } }: ActionProps): ReactNode {
  const [draft, setDraft] = useState<EndpointDraft>();
  const change = useChange<WebhookEndpoint>('patch', `${LIST}/${id}`, [LIST]);
  const close = () => {
    setDraft(undefined);
    change.reset();
  };
  const save = async () => {
    if (draft === undefined) return;
    const body: WebhookEndpointChange = { ...draft, events: [...draft.events] };
    if ((await change.run(body)) !== undefined) close();
  };
  return (
    <>
      <Button onClick={() => setDraft({ url, events, description })}>Change</Button>
      <ConfirmDialog
        title="Change the endpoint"
        consequence="New deliveries follow the change at once. Pending ones go to the new URL at their next try."
        confirm="Save"
        tone="primary"
        isOpen={draft !== undefined}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void save()}
        onClose={close}
      >
        {draft !== undefined && <EndpointFields value={draft} onChange={setDraft} />}
      </ConfirmDialog>
    </>
  );
}

const SWITCH = {
  off: {
    title: 'Turn the endpoint off?',
    consequence:
      'It gets no new deliveries, and its pending ones end as failed. What happens while it is off is not sent later.',
    confirm: 'Turn off',
  },
  on: {
    title: 'Turn the endpoint on?',
    consequence: 'It gets events that happen from now on. Failed deliveries can be sent again from its log.',
    confirm: 'Turn on',
  },
} as const;

function SwitchEndpoint({ endpoint: { id, active } }: ActionProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const change = useChange<WebhookEndpoint>('patch', `${LIST}/${id}`, [LIST, '/deliveries']);
  const words = SWITCH[active ? 'off' : 'on'];
  const close = () => {
    setAsking(false);
    change.reset();
  };
  const apply = async () => {
    if ((await change.run({ active: !active } satisfies WebhookEndpointChange)) !== undefined) close();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{words.confirm}</Button>
      <ConfirmDialog
        {...words}
        tone={active ? 'danger' : 'primary'}
        isOpen={isAsking}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void apply()}
        onClose={close}
      />
    </>
  );
}

function RotateSecret({ endpoint: { id } }: ActionProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const change = useChange<WebhookEndpointWithSecret>('post', `${LIST}/${id}/rotate-secret`, [LIST]);
  const close = () => {
    setAsking(false);
    change.reset();
  };
  const rotate = async () => {
    const rotated = await change.run();
    if (rotated === undefined) return;
    close();
    setSecret(rotated.signing_secret);
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>Replace the secret</Button>
      <ConfirmDialog
        title="Replace the signing secret?"
        consequence="The old secret signs nothing from now on, retries included. There is no overlap: your server refuses webhooks until it has the new one, and Laurel tries each again after one and after five minutes."
        confirm="Replace"
        isOpen={isAsking}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void rotate()}
        onClose={close}
      />
      <SecretDialog title="The new signing secret" secret={secret} onClose={() => setSecret(undefined)}>
        Give it to your server now. It is not shown again.
      </SecretDialog>
    </>
  );
}

function DeleteEndpoint({ endpoint: { id, url } }: ActionProps): ReactNode {
  const { programId, environment } = useProgram();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  // Nothing below the endpoint is read again, because it is gone. The list is read when it is
  // opened.
  const change = useChange<null>('delete', `${LIST}/${id}`, []);
  const close = () => {
    setAsking(false);
    change.reset();
  };
  const remove = async () => {
    if ((await change.run()) === undefined) return;
    client.removeQueries({ queryKey: [LIST] });
    await navigate({ to: '/p/$programId/$environment/webhooks', params: { programId, environment } });
  };
  return (
    <>
      <Button tone="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        title="Delete the endpoint?"
        consequence={`${url} gets nothing any more: its pending deliveries are never sent, and its log is removed. This cannot be undone.`}
        confirm="Delete"
        isOpen={isAsking}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void remove()}
        onClose={close}
      />
    </>
  );
}
