import { type FormEvent, type ReactNode, useState } from 'react';
import type { Credentials, SessionToken } from '../api/api-types.ts';
import { callWithoutSession } from '../api/client.ts';
import type { Failure } from '../api/failure.ts';
import { Button } from '../kit/button.tsx';
import { Field } from '../kit/field.tsx';
import { FailureLine } from '../kit/problem.tsx';

/** The session is a cookie. The token in the answer is for scripts, and is dropped. */
export function SignInForm({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body: Credentials = { email: String(form.get('email')), password: String(form.get('password')) };
    setRunning(true);
    const result = await callWithoutSession<SessionToken>('post', '/session', { body });
    setRunning(false);
    if (result.ok) onSignedIn();
    else setFailure(result.failure);
  };
  const isWrong = failure?.kind === 'session-ended';
  return (
    <form className="form" onSubmit={(event) => void signIn(event)}>
      <Field label="E-mail" name="email" type="email" autoComplete="username" required />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      {isWrong ? (
        <p className="failure-line" role="alert">
          The e-mail or the password is not right.
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
