import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Account, AccountRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Field, SelectField } from '../../../kit/field.tsx';
import { VERIFICATION_LEVELS } from './verification-levels.ts';

/** Opens an account, and then its page. */
export function CreateAccount(): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button tone="primary" onClick={() => setAsking(true)}>
        Create an account
      </Button>
      {isAsking && <Question onClose={() => setAsking(false)} />}
    </>
  );
}

const BLANK = { email: '', dateOfBirth: '', jurisdiction: '', level: '0', programId: '' };

function Question({ onClose }: { readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(BLANK);
  const change = useChange<Account>('post', '/accounts', ['/accounts', '/actions']);
  const set = (part: Partial<typeof BLANK>) => setDraft({ ...draft, ...part });
  const isIncomplete = [draft.email, draft.dateOfBirth, draft.jurisdiction].some((text) => text.trim() === '');
  const isSandbox = draft.programId.trim() !== '';
  const create = async () => {
    const body: AccountRequest = {
      email: draft.email.trim(),
      date_of_birth: draft.dateOfBirth,
      jurisdiction: draft.jurisdiction.trim().toUpperCase(),
      verification_level: Number(draft.level),
      program_id: draft.programId.trim() || undefined,
    };
    const account = await change.run(body);
    if (account !== undefined) await navigate({ to: '/accounts/$accountId', params: { accountId: account.id } });
  };
  return (
    <ConfirmDialog
      title="Create an account?"
      consequence={isSandbox ? SANDBOX : PERSON}
      confirm="Create"
      tone="primary"
      isOpen
      isBusy={change.isRunning || isIncomplete}
      failure={change.failure}
      onConfirm={() => void create()}
      onClose={onClose}
    >
      <Field label="E-mail" type="email" value={draft.email} onChange={({ target }) => set({ email: target.value })} />
      <Field
        label="Date of birth"
        type="date"
        value={draft.dateOfBirth}
        onChange={({ target }) => set({ dateOfBirth: target.value })}
      />
      <Field
        label="Jurisdiction"
        placeholder="US-CA"
        value={draft.jurisdiction}
        onChange={({ target }) => set({ jurisdiction: target.value })}
      />
      <SelectField
        label="Verification level"
        options={VERIFICATION_LEVELS}
        value={draft.level}
        onChange={({ target }) => set({ level: target.value })}
      />
      <Field
        label="Id of a program, for its sandbox"
        value={draft.programId}
        onChange={({ target }) => set({ programId: target.value })}
      />
    </ConfirmDialog>
  );
}

const PERSON =
  'The account of a person holds real money only. From now on every program can link it in live by its e-mail, and charge it for attempts.';
const SANDBOX =
  'A sandbox account holds play money only. The program, and no other, can link it in test by its e-mail.';
