/**
 * The actions that change an integration. Before a developer confirms one, its dialog states the
 * consequence.
 */
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Integration, RotatedIntegration } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../kit/dialog.tsx';
import { Field } from '../../kit/field.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { useProgram } from '../../layout/program.tsx';

type Action = 'activate' | 'pause' | 'rotate' | 'retire';

interface ActionsProps {
  readonly integration: Integration;
}

export function IntegrationActions({ integration }: ActionsProps): ReactNode {
  const { status, transport } = integration;
  const [asking, setAsking] = useState<Action>();
  const [secret, setSecret] = useState<string>();
  const close = () => setAsking(undefined);
  const isPush = transport === 'push_webhook';
  return (
    <>
      {status === 'active' ? (
        <Button onClick={() => setAsking('pause')}>Pause</Button>
      ) : (
        <Button tone="primary" onClick={() => setAsking('activate')}>
          Activate
        </Button>
      )}
      {isPush && <Button onClick={() => setAsking('rotate')}>Rotate the secret</Button>}
      {isPush && <Button onClick={() => setAsking('retire')}>Retire the previous secret</Button>}
      {asking !== undefined && (
        <Question key={asking} action={asking} integration={integration} onClose={close} onSecret={setSecret} />
      )}
      <SecretDialog title="The new signing secret" secret={secret} onClose={() => setSecret(undefined)}>
        Store it where your server signs its pushes. It is not shown again. The secret before it still verifies, until
        you retire it.
      </SecretDialog>
    </>
  );
}

interface QuestionProps extends ActionsProps {
  readonly action: Action;
  readonly onClose: () => void;
  readonly onSecret: (secret: string) => void;
}

function Question({ action, integration, onClose, onSecret }: QuestionProps): ReactNode {
  const { environment, pathOf } = useProgram();
  const base = `/integrations/${integration.id}`;
  const { method, path, body } = CALLS[action];
  const change = useChange<Partial<RotatedIntegration>>(method, pathOf(`${base}${path}?environment=${environment}`), [
    pathOf('/integrations'),
  ]);
  const confirm = async () => {
    const changed = await change.run(body);
    if (changed === undefined) return;
    onClose();
    if (changed.signing_secret !== undefined) onSecret(changed.signing_secret);
  };
  return (
    <ConfirmDialog
      {...textsOf(action, integration)}
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    />
  );
}

const CALLS = {
  activate: { method: 'patch', path: '', body: { status: 'active' } },
  pause: { method: 'patch', path: '', body: { status: 'suspended' } },
  rotate: { method: 'post', path: '/rotate-secret', body: undefined },
  retire: { method: 'post', path: '/retire-previous-secret', body: undefined },
} as const;

function textsOf(action: Action, { transport }: Integration) {
  switch (action) {
    case 'activate':
      return {
        title: 'Activate the integration?',
        consequence: `${BEGINS[transport]} Each record that its descriptor reads settles an attempt, and may pay an award.`,
        confirm: 'Activate',
        tone: 'primary',
      } as const;
    case 'pause':
      return { title: 'Pause the integration?', consequence: ENDS[transport], confirm: 'Pause' } as const;
    case 'rotate':
      return {
        title: 'Rotate the signing secret?',
        consequence:
          'A new secret is shown once. The current one still verifies until you retire it, so your servers can change over. If one before it is still in use, that one stops at once: its pushes get 401.',
        confirm: 'Rotate',
      } as const;
    case 'retire':
      return {
        title: 'Retire the previous secret?',
        consequence:
          'Only the newest secret verifies from now on. Every push that is still signed with the previous one gets 401 at once. If there is no previous secret, nothing changes.',
        confirm: 'Retire',
      } as const;
  }
}

const BEGINS = {
  push_webhook: 'Laurel accepts signed pushes from now on.',
  pull_poll: 'Laurel polls your address from now on.',
  sdk_direct: 'Nothing else changes.',
} as const;

const ENDS = {
  push_webhook:
    'Every push gets 404 at once, and is not kept: your server has to send it again later. An attempt without an outcome expires after its hour.',
  pull_poll:
    'Laurel stops to poll. It continues where it ended once you activate the integration again. An attempt without an outcome expires after its hour.',
  sdk_direct: 'Nothing else changes: your server still reports by /v1.',
} as const;

/** Changes how often Laurel polls. */
export function IntervalForm({ integration }: ActionsProps): ReactNode {
  const { environment, pathOf } = useProgram();
  const { id, pull_interval_seconds: saved } = integration;
  const [seconds, setSeconds] = useState(String(saved));
  const change = useChange<Integration>('patch', pathOf(`/integrations/${id}?environment=${environment}`), [
    pathOf('/integrations'),
  ]);
  const save = (event: FormEvent) => {
    event.preventDefault();
    void change.run({ pull_interval_seconds: Number(seconds) });
  };
  return (
    <form className="filters" onSubmit={save}>
      <Field
        label="Interval (seconds)"
        type="number"
        min={30}
        step={1}
        required
        value={seconds}
        onChange={(event) => setSeconds(event.target.value)}
      />
      <Button type="submit" disabled={seconds === String(saved)} isBusy={change.isRunning}>
        Save the interval
      </Button>
      <FailureLine failure={change.failure} />
    </form>
  );
}
