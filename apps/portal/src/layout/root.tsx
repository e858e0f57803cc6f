/** What stands around all pages: the screen of a lost session, and of an unknown address. */
import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from '../api/query-client.ts';
import { resumeSession, useSession } from '../api/session.ts';
import { Page } from '../kit/page.tsx';
import { SignInForm } from './sign-in-form.tsx';

export function Root(): ReactNode {
  const session = useSession();
  if (session === 'held') return <Outlet />;
  return <SignInHere hasEnded={session === 'ended'} />;
}

/** In place of the page. The address stays, so that the page comes back after the sign-in. */
function SignInHere({ hasEnded }: { readonly hasEnded: boolean }): ReactNode {
  const resume = () => {
    // Another developer may sign in: nothing of the earlier one stays.
    queryClient.clear();
    resumeSession();
  };
  return (
    <main className="narrow">
      <Page title={hasEnded ? 'Your session has ended' : 'Sign in'}>
        <p>
          {hasEnded
            ? 'Sign in again to continue on this page.'
            : 'This page is for signed-in developers. It opens once you have signed in.'}
        </p>
        <SignInForm onSignedIn={resume} />
      </Page>
    </main>
  );
}

export function NotFound(): ReactNode {
  return (
    <main className="narrow">
      <Page title="Page not found">
        <p>The portal has no page at this address.</p>
        <p>
          <Link to="/programs">Go to your programs</Link>
        </p>
      </Page>
    </main>
  );
}

/** A page that throws is a bug, or its script is gone after a new release. */
export function Crashed(): ReactNode {
  return (
    <div className="problem" role="alert">
      <h1>This page could not be shown</h1>
      <p>
        A newer version of the portal may have been released. <a href={location.href}>Load the page again</a>.
      </p>
    </div>
  );
}
