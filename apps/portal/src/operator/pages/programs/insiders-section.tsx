import { type ReactNode, useState } from 'react';
import type { Insider, InsiderRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';
import { Id } from '../../../kit/id.tsx';
import { Section } from '../../../kit/page.tsx';

/** The partner's own people, who may not pay for attempts in its live tournaments. */
export function InsidersSection({ programId }: { readonly programId: string }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [added, setAdded] = useState<string>();
  return (
    <Section title="Insiders" actions={<Button onClick={() => setAsking(true)}>Add an insider</Button>}>
      <p className="muted">
        An account of the partner’s own people cannot pay for attempts in the program’s live tournaments.
      </p>
      {added !== undefined && (
        <p role="status">
          Added: <Id value={added} what="account" />
        </p>
      )}
      {isAsking && <Question programId={programId} onAdded={setAdded} onClose={() => setAsking(false)} />}
    </Section>
  );
}

interface QuestionProps {
  readonly programId: string;
  readonly onAdded: (accountId: string) => void;
  readonly onClose: () => void;
}

function Question({ programId, onAdded, onClose }: QuestionProps): ReactNode {
  const [accountId, setAccountId] = useState('');
  const path = `/programs/${programId}/insiders`;
  const change = useChange<Insider>('post', path, [path, '/actions']);
  const add = async () => {
    const body: InsiderRequest = { account_id: accountId.trim() };
    const insider = await change.run(body);
    if (insider === undefined) return;
    onAdded(insider.account_id);
    onClose();
  };
  return (
    <ConfirmDialog
      title="Add an insider?"
      consequence="The account cannot pay for attempts in the live tournaments of this program any more: insider_entry."
      confirm="Add"
      tone="primary"
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void add()}
      onClose={onClose}
    >
      <Field label="Id of the account" value={accountId} onChange={(event) => setAccountId(event.target.value)} />
    </ConfirmDialog>
  );
}
