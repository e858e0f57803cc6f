import { type ReactNode, useState } from 'react';
import type { DepositResult, OperatorAttempt } from '../../../api/api-types.ts';
import { Button } from '../../../kit/button.tsx';
import { money } from '../../../kit/format.ts';
import { MakeGoodDialog } from './make-good-dialog.tsx';
import { VoidDialog } from './void-dialog.tsx';
import { whyNotVoidable } from './void-rules.ts';

/** Shows what an operator can do about an attempt, and why the rest is not possible. */
export function AttemptActions({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const [asking, setAsking] = useState<'void' | 'makeGood'>();
  const [deposited, setDeposited] = useState<DepositResult>();
  const close = () => setAsking(undefined);
  const { account_id: accountId } = attempt;
  const obstacle = whyNotVoidable(attempt);
  return (
    <>
      <p role="status">{deposited !== undefined && depositWords(deposited)}</p>
      <dl className="attempt-actions">
        <dt>Void</dt>
        <dd>
          {obstacle ?? (
            <Button tone="danger" onClick={() => setAsking('void')}>
              Void the attempt
            </Button>
          )}
        </dd>
        <dt>Make good</dt>
        <dd>
          {accountId === null ? (
            'The player has no account that could be paid.'
          ) : (
            <Button onClick={() => setAsking('makeGood')}>Make the attempt good</Button>
          )}
        </dd>
      </dl>
      {asking === 'void' && <VoidDialog attempt={attempt} onClose={close} />}
      {asking === 'makeGood' && accountId !== null && (
        <MakeGoodDialog attempt={attempt} accountId={accountId} onDeposited={setDeposited} onClose={close} />
      )}
    </>
  );
}

function depositWords({ balance, posted_before: wasPosted }: DepositResult): string {
  return wasPosted
    ? `An earlier deposit has this reference, so no money moved. The balance is ${money(balance)}.`
    : `Deposited. The balance is now ${money(balance)}.`;
}
