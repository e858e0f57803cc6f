/**
 * The actions that change a program. Before an operator confirms an action, its dialog states the
 * consequence.
 */
import { type ReactNode, useState } from 'react';
import type { ApprovedProgram, LiveKey, OperatorProgram, ProgramStatus } from '../../../api/api-types.ts';
import type { Method } from '../../../api/client.ts';
import { useChange } from '../../../api/use-read.ts';
import { SecretDialog } from '../../../kit/dialog.tsx';
import { ActionButtons } from '../../layout/action-buttons.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { PROGRAM_FACTS } from './facts.ts';

type Action = 'approve' | 'replaceLiveKey' | 'suspend' | 'reinstate' | 'close' | 'scheduleDeletion' | 'keep';

interface Call {
  readonly method: Method;
  /** The path is below the program's own path. */
  readonly path: string;
  readonly body?: unknown;
  readonly label: string;
  readonly confirm: string;
  readonly tone: 'primary' | 'danger';
  readonly title: (name: string) => string;
  readonly consequence: string;
}

const STOPS_KEYS = 'Every key of the program gets 401 at once, test and live: no attempt can be created or reported.';

const CALLS: Readonly<Record<Action, Call>> = {
  approve: {
    method: 'post',
    path: '/approve',
    label: 'Approve',
    confirm: 'Approve',
    tone: 'primary',
    title: (name) => `Approve ${name}?`,
    consequence:
      'The program may charge real players and pay them real money from now on. Its live key is shown once; the test key stays valid. If the answer is lost, approve again within 10 minutes: a new live key takes the place of the lost one.',
  },
  replaceLiveKey: {
    method: 'post',
    path: '/live-key',
    label: 'New live key',
    confirm: 'Replace',
    tone: 'danger',
    title: (name) => `Replace the live key of ${name}?`,
    consequence:
      'The old key stops at once: every server that still sends it gets 401 until it has the new one. The new key is shown once.',
  },
  suspend: {
    method: 'patch',
    path: '',
    body: { status: 'suspended' },
    label: 'Suspend',
    confirm: 'Suspend',
    tone: 'danger',
    title: (name) => `Suspend ${name}?`,
    consequence: `${STOPS_KEYS} “Reinstate” makes the same keys work again.`,
  },
  reinstate: {
    method: 'patch',
    path: '',
    body: { status: 'approved' },
    label: 'Reinstate',
    confirm: 'Reinstate',
    tone: 'primary',
    title: (name) => `Reinstate ${name}?`,
    consequence: 'The keys of the program work again at once, test and live. No new key is issued.',
  },
  close: {
    method: 'patch',
    path: '',
    body: { status: 'closed' },
    label: 'Close',
    confirm: 'Close',
    tone: 'danger',
    title: (name) => `Close ${name}?`,
    consequence: `${STOPS_KEYS} An operator can reinstate the program.`,
  },
  scheduleDeletion: {
    method: 'patch',
    path: '',
    body: { deletion_scheduled: true },
    label: 'Schedule the deletion',
    confirm: 'Schedule',
    tone: 'danger',
    title: (name) => `Schedule the deletion of ${name}?`,
    consequence: `${STOPS_KEYS} “Keep the program” makes them work again.`,
  },
  keep: {
    method: 'patch',
    path: '',
    body: { deletion_scheduled: false },
    label: 'Keep the program',
    confirm: 'Keep',
    tone: 'primary',
    title: (name) => `Keep ${name}?`,
    consequence: 'The program is no longer scheduled for deletion, and its keys work as its status says.',
  },
};

const AFFECTS = ['/programs', '/actions'] as const;

const OFFERED: Readonly<Record<ProgramStatus, readonly Action[]>> = {
  draft: ['approve', 'close'],
  approved: ['replaceLiveKey', 'suspend', 'close'],
  suspended: ['reinstate', 'close'],
  closed: ['reinstate'],
};

function offeredFor({ status, deletion_scheduled: isScheduled }: OperatorProgram): readonly Action[] {
  const deletion: Action = isScheduled ? 'keep' : 'scheduleDeletion';
  return [...OFFERED[status], ...(status === 'closed' || isScheduled ? [deletion] : [])];
}

export function ProgramActions({ program }: { readonly program: OperatorProgram }): ReactNode {
  const [asking, setAsking] = useState<Action>();
  const [liveKey, setLiveKey] = useState<string>();
  const close = () => setAsking(undefined);
  return (
    <>
      <ActionButtons actions={offeredFor(program)} calls={CALLS} onChoose={setAsking} />
      {asking !== undefined && (
        <Question key={asking} action={asking} program={program} onClose={close} onLiveKey={setLiveKey} />
      )}
      <SecretDialog title="The live key" secret={liveKey} onClose={() => setLiveKey(undefined)}>
        Give it to the developer by a way that nobody else reads. It is not shown again.
      </SecretDialog>
    </>
  );
}

interface QuestionProps {
  readonly action: Action;
  readonly program: OperatorProgram;
  readonly onClose: () => void;
  readonly onLiveKey: (key: string) => void;
}

function Question({ action, program, onClose, onLiveKey }: QuestionProps): ReactNode {
  const { method, path, body, title, consequence, confirm, tone } = CALLS[action];
  const change = useChange<OperatorProgram | ApprovedProgram | LiveKey>(
    method,
    `/programs/${program.id}${path}`,
    AFFECTS,
  );
  // The answer may have been lost after the approval, and with it the only sight of the live key.
  const mayRepeat = action === 'approve' && change.failure?.kind === 'unreachable';
  const run = async () => {
    const changed = await change.run(body);
    if (changed === undefined) return;
    onClose();
    if ('live_key' in changed) onLiveKey(changed.live_key);
  };
  return (
    <ConfirmItemDialog
      item={{
        path: `/programs/${program.id}`,
        shown: program,
        facts: PROGRAM_FACTS,
        subjects: [{ name: `program:${program.id}` }],
        affects: AFFECTS,
      }}
      allows={(now) => offeredFor(now).includes(action) || mayRepeat}
      title={title(program.name)}
      consequence={consequence}
      confirm={confirm}
      tone={tone}
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    />
  );
}
