import { type FormEvent, type ReactNode, useState } from 'react';
import { callWithoutSession } from '../api/client.ts';
import type { Failure } from '../api/failure.ts';
import { Button } from '../kit/button.tsx';
import { FailureLine } from '../kit/problem.tsx';

interface SignInFormProps {
  /** The body of `POST /session`. */
  readonly bodyOf: (form: FormData) => unknown;
  /** What a 401 means: "The e-mail or the password is not right." */
  readonly wrong: string;
  readonly onSignedIn: () => void;
  /** The fields of the form. */
  readonly children: ReactNode;
}

/**
 * The session is a cookie. A response may also have the session's token, for scripts; this form
 * drops it.
 */
export function SignInForm({ bodyOf, wrong, onSignedIn, children }: SignInFormProps): ReactNode {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = bodyOf(new FormData(event.currentTarget));
    setRunning(true);
    const result = await callWithoutSession('post', '/session', { body });
    setRunning(false);
    if (result.ok) onSignedIn();
    else setFailure(result.failure);
  };
  return (
    <form className="form" onSubmit={(event) => void signIn(event)}>
      {children}
      {failure?.kind === 'session-ended' ? (
        <p className="failure-line" role="alert">
          {wrong}
        </p>
      ) : (
        <FailureLine failure={failure} />
      )}
      <Button type="submit" tone="primary" isBusy={isRunning}>
        {isRunning ? 'Signing in ...' : 'Sign in'}
      </Button>
    </form>
  );
}
