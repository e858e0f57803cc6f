import { type ReactNode, useState } from 'react';
import type { DepositRequest, DepositResult, OperatorAttempt } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Field } from '../../../kit/field.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { ATTEMPT_FACTS } from './facts.ts';
import { nextReference } from './goodwill.ts';
import { moneyKindOf } from './void-rules.ts';

interface MakeGoodDialogProps {
  readonly attempt: OperatorAttempt;
  /** The account of the attempt. */
  readonly accountId: string;
  readonly onDeposited: (result: DepositResult) => void;
  readonly onClose: () => void;
}

const AFFECTS = ['/attempts', '/accounts', '/actions'] as const;

export function MakeGoodDialog({ attempt, accountId, onDeposited, onClose }: MakeGoodDialogProps): ReactNode {
  const [amount, setAmount] = useState(attempt.fee === '0.00' ? '' : attempt.fee);
  const [ownReference, setOwnReference] = useState<string>();
  const change = useChange<DepositResult>('post', `/accounts/${accountId}/deposits`, AFFECTS);
  const reference = ownReference ?? nextReference(attempt);
  const isIncomplete = amount.trim() === '' || reference.trim() === '';
  const run = async () => {
    const { id: attempt_id, environment } = attempt;
    const body: DepositRequest = { environment, amount: amount.trim(), reference: reference.trim(), attempt_id };
    const result = await change.run(body);
    if (result === undefined) return;
    onDeposited(result);
    onClose();
  };
  return (
    <ConfirmItemDialog
      item={{ path: `/attempts/${attempt.id}`, shown: attempt, facts: ATTEMPT_FACTS, subjects: [], affects: AFFECTS }}
      allows={() => true}
      title="Make the attempt good?"
      consequence={`The player has the amount in ${moneyKindOf(attempt)} at once. The statement of the account and this timeline name it; the partner is told nothing, and the attempt stays as it is. No route takes a deposit back.`}
      confirm="Deposit"
      tone={attempt.environment === 'live' ? 'danger' : 'primary'}
      isBusy={change.isRunning || isIncomplete}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <Field
        label="Amount, in US dollars"
        hint="With two places: 25.00."
        inputMode="decimal"
        value={amount}
        onChange={(event) => setAmount(event.target.value)}
      />
      <Field
        label="Reference"
        hint="Counts once for the account: the same again moves nothing."
        maxLength={255}
        value={reference}
        onChange={(event) => setOwnReference(event.target.value)}
      />
    </ConfirmItemDialog>
  );
}
