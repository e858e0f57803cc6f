/** `<SignInLink developer={developer} />`: makes a link that signs the developer in, shown once. */
import { type ReactNode, useState } from 'react';
import type { Developer, OneTimeLink } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../../kit/dialog.tsx';

interface SignInLinkProps {
  readonly developer: Pick<Developer, 'id' | 'email'>;
}

export function SignInLink({ developer }: SignInLinkProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [token, setToken] = useState<string>();
  return (
    <>
      <Button aria-label={`Make a sign-in link for ${developer.email}`} onClick={() => setAsking(true)}>
        Make a sign-in link
      </Button>
      {isAsking && <Question developer={developer} onToken={setToken} onClose={() => setAsking(false)} />}
      <SecretDialog
        title="The sign-in link"
        secret={token === undefined ? undefined : `${location.origin}/portal/sign-in#${token}`}
        onClose={() => setToken(undefined)}
      >
        The first who opens it is signed in as {developer.email}. It works once, within 15 minutes, and is not shown
        again.
      </SecretDialog>
    </>
  );
}

interface QuestionProps extends SignInLinkProps {
  readonly onToken: (token: string) => void;
  readonly onClose: () => void;
}

function Question({ developer: { id, email }, onToken, onClose }: QuestionProps): ReactNode {
  const change = useChange<OneTimeLink>('post', `/developers/${id}/sign-in-link`, ['/actions']);
  const make = async () => {
    const link = await change.run();
    if (link === undefined) return;
    onClose();
    onToken(link.token);
  };
  return (
    <ConfirmDialog
      title={`Make a sign-in link for ${email}?`}
      consequence="The person who opens it becomes the developer: sees all their programs and can replace test keys and secrets. Earlier links keep working until they expire."
      confirm="Make the link"
      tone="primary"
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void make()}
      onClose={onClose}
    />
  );
}
