import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { CreatedProgram, ProgramRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';

/** Makes a draft, shows its test key once, and opens its page. */
export function CreateProgram(): ReactNode {
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [created, setCreated] = useState<CreatedProgram>();
  const open = (programId: string) => {
    setCreated(undefined);
    void navigate({ to: '/programs/$programId', params: { programId } });
  };
  return (
    <>
      <Button tone="primary" onClick={() => setAsking(true)}>
        Create a program
      </Button>
      {isAsking && <Question onClose={() => setAsking(false)} onCreated={setCreated} />}
      <SecretDialog
        title="The test key"
        secret={created?.test_key}
        onClose={() => created !== undefined && open(created.id)}
      >
        Give it to the developer, who can also replace it in the portal. It is not shown again.
      </SecretDialog>
    </>
  );
}

interface QuestionProps {
  readonly onClose: () => void;
  readonly onCreated: (program: CreatedProgram) => void;
}

function Question({ onClose, onCreated }: QuestionProps): ReactNode {
  const [name, setName] = useState('');
  const [developerId, setDeveloperId] = useState('');
  const change = useChange<CreatedProgram>('post', '/programs', ['/programs']);
  const create = async () => {
    const body: ProgramRequest = { name, developer_id: developerId.trim() || undefined };
    const program = await change.run(body);
    if (program === undefined) return;
    onClose();
    onCreated(program);
  };
  return (
    <ConfirmDialog
      title="Create a program?"
      consequence="The program is a draft: its test key works at once, and its approval adds live. The test key is shown once."
      confirm="Create"
      tone="primary"
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void create()}
      onClose={onClose}
    >
      <Field label="Name" value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
      <Field
        label="Id of the developer"
        hint="Who sees the program in the portal. Without one, nobody does."
        value={developerId}
        onChange={(event) => setDeveloperId(event.target.value)}
      />
    </ConfirmDialog>
  );
}
