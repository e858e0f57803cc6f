import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SessionToken } from '../../api/api-types.ts';
import { callWithoutSession, type Result } from '../../api/client.ts';
import type { Failure } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { takeLinkToken } from '../../api/sign-in-link.ts';
import { Page } from '../../kit/page.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { PasswordForm } from '../../layout/password-form.tsx';

/** Signs in by a one-time link, or by e-mail and password. */
export function SignInPage(): ReactNode {
  const navigate = useNavigate();
  const enter = () => {
    queryClient.clear();
    void navigate({ to: '/', replace: true });
  };
  const link = useSignInLink(enter);
  return (
    <main className="narrow">
      <Page title="Sign in to Laurel">
        {link === 'running' ? (
          <p role="status">Signing in by your link ...</p>
        ) : (
          <>
            {link !== undefined && <LinkFailure failure={link} />}
            <PasswordForm onSignedIn={enter} />
          </>
        )}
      </Page>
    </main>
  );
}

function LinkFailure({ failure }: { readonly failure: Failure }): ReactNode {
  if (failure.kind !== 'session-ended') return <FailureLine failure={failure} />;
  return (
    <p className="failure-line" role="alert">
      This link has expired or was used before. Ask for another one, or sign in with your password.
    </p>
  );
}

/** Exchanges the token of the link, if there is one. Returns the failure if the exchange failed. */
function useSignInLink(onSignedIn: () => void): 'running' | Failure | undefined {
  const [exchange] = useState(beginExchange);
  const [state, setState] = useState<'running' | Failure | undefined>(exchange && 'running');
  const latest = useRef(onSignedIn);
  latest.current = onSignedIn;
  useEffect(() => {
    let isShown = true;
    void exchange?.then((result) => {
      if (!isShown) return;
      if (result.ok) latest.current();
      else setState(result.failure);
    });
    return () => {
      isShown = false;
    };
  }, [exchange]);
  return state;
}

/** Exchanges the token outside of an effect, which may run twice: a second exchange is refused. */
function beginExchange(): Promise<Result<SessionToken>> | undefined {
  const token = takeLinkToken();
  return token === undefined ? undefined : callWithoutSession('post', '/session/link', { body: { token } });
}
