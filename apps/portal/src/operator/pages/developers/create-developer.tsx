import { type ReactNode, useState } from 'react';
import type { Developer, DeveloperRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';

interface CreateDeveloperProps {
  readonly onCreated: (developer: Developer) => void;
}

export function CreateDeveloper({ onCreated }: CreateDeveloperProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button tone="primary" onClick={() => setAsking(true)}>
        Create a developer
      </Button>
      {isAsking && <Question onCreated={onCreated} onClose={() => setAsking(false)} />}
    </>
  );
}

interface QuestionProps extends CreateDeveloperProps {
  readonly onClose: () => void;
}

function Question({ onCreated, onClose }: QuestionProps): ReactNode {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const change = useChange<Developer>('post', '/developers', ['/developers', '/actions']);
  const create = async () => {
    const body: DeveloperRequest = { email: email.trim(), password };
    const developer = await change.run(body);
    if (developer === undefined) return;
    onClose();
    onCreated(developer);
  };
  return (
    <ConfirmDialog
      title="Create a developer?"
      consequence="The developer can sign in to the portal at once, with the password or by a sign-in link, and sees no program until one is theirs. Laurel sends no e-mail, and no page shows the password."
      confirm="Create"
      tone="primary"
      isOpen
      isBusy={change.isRunning || email.trim() === '' || password === ''}
      failure={change.failure}
      onConfirm={() => void create()}
      onClose={onClose}
    >
      <Field label="E-mail" type="email" value={email} onChange={({ target }) => setEmail(target.value)} />
      <Field
        label="Password"
        hint="12 to 128 characters. Give it to the developer yourself."
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
    </ConfirmDialog>
  );
}
