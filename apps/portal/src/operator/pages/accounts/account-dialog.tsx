/** Asks before a fact of an account is changed. */
import type { ReactNode } from 'react';
import type { Account, AccountChange } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { ConfirmDialog } from '../../../kit/dialog.tsx';

interface AccountDialogProps {
  readonly account: Account;
  readonly title: string;
  readonly consequence: string;
  readonly confirm: string;
  readonly tone: 'primary' | 'danger';
  /** Undefined while the fields are incomplete or change nothing. */
  readonly body: AccountChange | undefined;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function AccountDialog({ account, body, onClose, ...dialog }: AccountDialogProps): ReactNode {
  const change = useChange<Account>('patch', `/accounts/${account.id}`, ['/accounts', '/actions', '/payouts']);
  const run = async () => {
    if (body !== undefined && (await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmDialog
      {...dialog}
      isOpen
      isBusy={change.isRunning || body === undefined}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    />
  );
}
