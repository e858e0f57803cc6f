import { type ReactNode, useState } from 'react';
import type { OneTimeLink } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';
import { Section } from '../../../kit/page.tsx';

/** Lets a developer in who has lost the password. */
export function DeveloperSection(): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [token, setToken] = useState<string>();
  return (
    <Section title="Developer" actions={<Button onClick={() => setAsking(true)}>Make a sign-in link</Button>}>
      <p className="muted">A link signs a developer in to the portal once, within 15 minutes, without a password.</p>
      {isAsking && <Question onToken={setToken} onClose={() => setAsking(false)} />}
      <SecretDialog
        title="The sign-in link"
        secret={token === undefined ? undefined : `${location.origin}/portal/sign-in#${token}`}
        onClose={() => setToken(undefined)}
      >
        The first who opens it is signed in as the developer. It works once, within 15 minutes, and is not shown again.
      </SecretDialog>
    </Section>
  );
}

interface QuestionProps {
  readonly onToken: (token: string) => void;
  readonly onClose: () => void;
}

function Question({ onToken, onClose }: QuestionProps): ReactNode {
  const [developerId, setDeveloperId] = useState('');
  const path = `/developers/${encodeURIComponent(developerId.trim())}/sign-in-link`;
  const change = useChange<OneTimeLink>('post', path, ['/actions']);
  const make = async () => {
    const link = await change.run();
    if (link === undefined) return;
    onClose();
    onToken(link.token);
  };
  return (
    <ConfirmDialog
      title="Make a sign-in link?"
      consequence="The person who opens it becomes the developer: sees all their programs and can replace test keys and secrets. Earlier links keep working until they expire."
      confirm="Make the link"
      tone="primary"
      isOpen
      isBusy={change.isRunning || developerId.trim() === ''}
      failure={change.failure}
      onConfirm={() => void make()}
      onClose={onClose}
    >
      <Field label="Id of the developer" value={developerId} onChange={(event) => setDeveloperId(event.target.value)} />
    </ConfirmDialog>
  );
}
