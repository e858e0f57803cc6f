import { type ReactNode, useState } from 'react';
import type { Account, DepositRequest, DepositResult } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Field } from '../../../kit/field.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { environmentOf, takesDeposits } from './environment.ts';
import { AFFECTS, accountItem } from './facts.ts';

export interface PostedDeposit {
  readonly amount: string;
  readonly reference: string;
  readonly result: DepositResult;
}

interface DepositDialogProps {
  readonly account: Account;
  readonly onDeposited: (deposited: PostedDeposit) => void;
  readonly onClose: () => void;
}

const BLANK = { amount: '', reference: '', attemptId: '' };

export function DepositDialog({ account, onDeposited, onClose }: DepositDialogProps): ReactNode {
  const [draft, setDraft] = useState(BLANK);
  const change = useChange<DepositResult>('post', `/accounts/${account.id}/deposits`, AFFECTS);
  const set = (part: Partial<typeof BLANK>) => setDraft({ ...draft, ...part });
  const [amount, reference, attemptId] = [draft.amount.trim(), draft.reference.trim(), draft.attemptId.trim()];
  const environment = environmentOf(account);
  const run = async () => {
    const body: DepositRequest = { environment, amount, reference, attempt_id: attemptId || undefined };
    const result = await change.run(body);
    if (result === undefined) return;
    onDeposited({ amount, reference, result });
    onClose();
  };
  return (
    <ConfirmItemDialog
      item={accountItem(account)}
      allows={takesDeposits}
      title={environment === 'live' ? 'Deposit real money?' : 'Deposit play money?'}
      consequence={`${account.email} has the amount at once and can pay for attempts with it. No route takes a deposit back. A reference counts once: the same again, with the same amount, moves nothing.`}
      confirm="Deposit"
      tone={environment === 'live' ? 'danger' : 'primary'}
      isBusy={change.isRunning || amount === '' || reference === ''}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <Field
        label="Amount, in US dollars"
        hint="With two places: 25.00."
        inputMode="decimal"
        value={draft.amount}
        onChange={({ target }) => set({ amount: target.value })}
      />
      <Field
        label="Reference"
        hint="What names the payment outside of Laurel: a bank transfer, a ticket."
        maxLength={255}
        value={draft.reference}
        onChange={({ target }) => set({ reference: target.value })}
      />
      <Field
        label="Id of an attempt, if the deposit makes one good"
        value={draft.attemptId}
        onChange={({ target }) => set({ attemptId: target.value })}
      />
    </ConfirmItemDialog>
  );
}
