import { type ReactNode, useState } from 'react';
import type { Attempt, OperatorAttempt, VoidRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { TextField } from '../../../kit/field.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { ATTEMPT_FACTS } from './facts.ts';
import { voidConsequence, whyNotVoidable } from './void-rules.ts';

interface AttemptDialogProps {
  readonly attempt: OperatorAttempt;
  readonly onClose: () => void;
}

const AFFECTS = ['/attempts', '/accounts', '/actions'] as const;

export function VoidDialog({ attempt, onClose }: AttemptDialogProps): ReactNode {
  const [reason, setReason] = useState('');
  const path = `/attempts/${attempt.id}`;
  const change = useChange<Attempt>('post', `${path}/void`, AFFECTS);
  const run = async () => {
    const body: VoidRequest = { reason: reason.trim() };
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      item={{
        path,
        shown: attempt,
        facts: ATTEMPT_FACTS,
        subjects: [{ name: `attempt:${attempt.id}` }],
        affects: AFFECTS,
      }}
      allows={(now) => whyNotVoidable(now) === null}
      title="Void the attempt?"
      consequence={voidConsequence(attempt)}
      confirm="Void"
      tone="danger"
      isBusy={change.isRunning || reason.trim() === ''}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        hint="The developer of the program reads it in the attempt’s history."
        rows={2}
        maxLength={1_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </ConfirmItemDialog>
  );
}
