/**
 * What surrounds all pages: the screens of a lost session, of an unknown address, and of a page
 * that throws.
 */
import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from '../api/query-client.ts';
import { resumeSession, useSession } from '../api/session.ts';
import { Page } from '../kit/page.tsx';

interface SessionGateProps {
  /** The audience of the page: "This page is for signed-in developers." */
  readonly audience: string;
  readonly signIn: (onSignedIn: () => void) => ReactNode;
}

/**
 * Shows the page, or the sign-in in its place. The address stays, so the page appears after the
 * sign-in.
 */
export function SessionGate({ audience, signIn }: SessionGateProps): ReactNode {
  const session = useSession();
  if (session === 'held') return <Outlet />;
  const resume = () => {
    // Somebody else may sign in: nothing of the earlier session stays.
    queryClient.clear();
    resumeSession();
  };
  const hasEnded = session === 'ended';
  return (
    <main className="narrow">
      <Page title={hasEnded ? 'Your session has ended' : 'Sign in'}>
        <p>{hasEnded ? 'Sign in again to continue on this page.' : `${audience} It opens once you have signed in.`}</p>
        {signIn(resume)}
      </Page>
    </main>
  );
}

/** Both the developer portal and the operator's pages begin at `/programs`. */
export function NotFound(): ReactNode {
  return (
    <main className="narrow">
      <Page title="Page not found">
        <p>There is no page at this address.</p>
        <p>
          <Link to="/programs">Go to the programs</Link>
        </p>
      </Page>
    </main>
  );
}

/** A page that throws is a bug, or its script is gone after a new release. */
export function CrashedPage(): ReactNode {
  return (
    <div className="problem" role="alert">
      <h1>This page could not be shown</h1>
      <p>
        A newer version may have been released. <a href={location.href}>Load the page again</a>.
      </p>
    </div>
  );
}
