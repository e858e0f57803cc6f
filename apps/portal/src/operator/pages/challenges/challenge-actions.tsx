/**
 * The actions that change the status of a challenge. Before an operator confirms one, its dialog
 * states the consequence.
 */
import { type ReactNode, useState } from 'react';
import type { ChallengeChange, ChallengeStatus, ChallengeWithStatusChange } from '../../../api/api-types.ts';
import { TextField } from '../../../kit/field.tsx';
import { ChangeStatusDialog } from '../../contests/change-status-dialog.tsx';
import { ActionButtons } from '../../layout/action-buttons.tsx';
import { CHALLENGE_FACTS } from './facts.ts';

type Action = 'suspend' | 'reinstate' | 'close';

interface Call {
  readonly label: string;
  readonly status: ChallengeChange['status'];
  readonly tone: 'primary' | 'danger';
  readonly consequence: (challenge: ChallengeWithStatusChange) => string;
}

/** The consequence that suspending and closing have in common. */
const NO_ATTEMPT =
  'No attempt can be started from now on: the partner gets challenge_not_available. Attempts that are open are still played and can win.';

const CALLS: Readonly<Record<Action, Call>> = {
  suspend: {
    label: 'Suspend',
    status: 'suspended',
    tone: 'danger',
    consequence: ({ status }) =>
      `${NO_ATTEMPT} ${status === 'calibrating' ? 'No score counts for the bar meanwhile. ' : ''}“Reinstate” makes it ${status} again.`,
  },
  reinstate: { label: 'Reinstate', status: 'live', tone: 'primary', consequence: reinstatementOf },
  close: {
    label: 'Close',
    status: 'closed',
    tone: 'danger',
    consequence: (challenge) =>
      `${NO_ATTEMPT} ${isStoppedByDrift(challenge) ? 'Awards that are won meanwhile stay held. ' : ''}This is final: it cannot be reinstated.`,
  },
};

const OFFERED: Readonly<Record<ChallengeStatus, readonly Action[]>> = {
  calibrating: ['suspend', 'close'],
  live: ['suspend', 'close'],
  suspended: ['reinstate', 'close'],
  closed: [],
};

function reinstatementOf(challenge: ChallengeWithStatusChange): string {
  const before = challenge.status_change?.from ?? 'live';
  const begins =
    before === 'calibrating'
      ? 'It calibrates again: attempts are free, and their scores count for the bar.'
      : 'It is live again at once: players pay the fee, and a score that clears the bar wins the prize.';
  if (!isStoppedByDrift(challenge)) return begins;
  return `${begins} The drift monitor starts again from nothing, and so does what the challenge may lose before the monitor judges it. Awards that are held stay held: release or deny each of them.`;
}

function isStoppedByDrift({ status, status_change }: ChallengeWithStatusChange): boolean {
  return status === 'suspended' && status_change?.cause === 'drift';
}

export function ChallengeActions({ challenge }: { readonly challenge: ChallengeWithStatusChange }): ReactNode {
  const [asking, setAsking] = useState<Action>();
  return (
    <>
      <ActionButtons actions={OFFERED[challenge.status]} calls={CALLS} onChoose={setAsking} />
      {asking !== undefined && (
        <Question key={asking} action={asking} challenge={challenge} onClose={() => setAsking(undefined)} />
      )}
    </>
  );
}

interface QuestionProps {
  readonly action: Action;
  readonly challenge: ChallengeWithStatusChange;
  readonly onClose: () => void;
}

function Question({ action, challenge, onClose }: QuestionProps): ReactNode {
  const { label, status, tone, consequence } = CALLS[action];
  const [note, setNote] = useState('');
  const given = note.trim();
  const body: ChallengeChange = given === '' ? { status } : { status, note: given };
  const isNoteRequired = action === 'reinstate' && isStoppedByDrift(challenge);
  return (
    <ChangeStatusDialog
      kind="challenge"
      contest={challenge}
      facts={CHALLENGE_FACTS}
      allows={(now) => OFFERED[now.status].includes(action)}
      label={label}
      tone={tone}
      consequence={consequence(challenge)}
      body={body}
      isIncomplete={isNoteRequired && given === ''}
      onClose={onClose}
    >
      <TextField
        label={isNoteRequired ? 'Note' : 'Note, if there is one'}
        hint="Kept in the history of its status, which the developer sees too."
        rows={2}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
    </ChangeStatusDialog>
  );
}
