import { type ReactNode, useMemo, useState } from 'react';
import type { Insider, InsiderRequest, ListedInsider } from '../../../api/api-types.ts';
import { useChange, useList } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { Field } from '../../../kit/field.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import { Section } from '../../../kit/page.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AccountId } from '../../layout/item-ids.tsx';

/** The partner's own people, who may not pay for attempts in its live tournaments. */
export function InsidersSection({ programId }: { readonly programId: string }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [added, setAdded] = useState<string>();
  const [removing, setRemoving] = useState<ListedInsider>();
  const reading = useList<ListedInsider>(`/programs/${programId}/insiders`);
  const columns = useMemo(() => columnsWith(setRemoving), []);
  return (
    <Section title="Insiders" actions={<Button onClick={() => setAsking(true)}>Add an insider</Button>}>
      <p className="muted">
        An account of the partner’s own people cannot pay for attempts in the program’s live tournaments.
      </p>
      {added !== undefined && (
        <p role="status">
          Added: <AccountId value={added} />
        </p>
      )}
      <ListTable
        reading={reading}
        caption="Insiders"
        columns={columns}
        keyOf={({ account_id: accountId }) => accountId}
        empty={<Empty title="No insiders">Add the accounts of the partner’s own people.</Empty>}
      />
      {isAsking && <Question programId={programId} onAdded={setAdded} onClose={() => setAsking(false)} />}
      {removing !== undefined && (
        <Removal programId={programId} insider={removing} onClose={() => setRemoving(undefined)} />
      )}
    </Section>
  );
}

function columnsWith(remove: (insider: ListedInsider) => void): readonly Column<ListedInsider>[] {
  return [
    { name: 'E-mail', grow: 2, cell: ({ email }) => email },
    { name: 'Account', cell: ({ account_id: accountId }) => <AccountId value={accountId} isShort /> },
    { name: 'Added', cell: ({ created_at: at }) => <Time at={at} /> },
    {
      name: 'Remove',
      align: 'end',
      cell: (insider) => (
        <Button aria-label={`Remove ${insider.email}`} onClick={() => remove(insider)}>
          Remove
        </Button>
      ),
    },
  ];
}

interface RemovalProps {
  readonly programId: string;
  readonly insider: ListedInsider;
  readonly onClose: () => void;
}

function Removal({ programId, insider, onClose }: RemovalProps): ReactNode {
  const path = `/programs/${programId}/insiders`;
  const change = useChange<null>('delete', `${path}/${insider.account_id}`, [path, '/actions']);
  const remove = async () => {
    if ((await change.run()) !== undefined) onClose();
  };
  return (
    <ConfirmDialog
      title={`Remove ${insider.email}?`}
      consequence="The account is no insider any more: it can pay for attempts in the live tournaments of this program, and win their purses, at once."
      confirm="Remove"
      tone="danger"
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void remove()}
      onClose={onClose}
    />
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
