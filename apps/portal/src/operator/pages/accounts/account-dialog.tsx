/** Asks before a fact of an account is changed. */
import type { ReactNode } from 'react';
import type { Account, AccountChange } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { AFFECTS, accountItem } from './facts.ts';

interface AccountDialogProps {
  readonly account: Account;
  readonly title: string;
  readonly consequence: string;
  readonly confirm: string;
  readonly tone: 'primary' | 'danger';
  /** The body is undefined while the fields are incomplete or change nothing. */
  readonly body: AccountChange | undefined;
  /** Whether the change still makes sense; by default it does. */
  readonly allows?: (now: Account) => boolean;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function AccountDialog(props: AccountDialogProps): ReactNode {
  const { account, body, allows = () => true, onClose, ...dialog } = props;
  const change = useChange<Account>('patch', `/accounts/${account.id}`, AFFECTS);
  const run = async () => {
    if (body !== undefined && (await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      {...dialog}
      item={accountItem(account)}
      allows={allows}
      isBusy={change.isRunning || body === undefined}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    />
  );
}
