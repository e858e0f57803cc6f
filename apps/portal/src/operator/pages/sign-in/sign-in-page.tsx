import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from '../../../api/query-client.ts';
import { Page } from '../../../kit/page.tsx';
import { TokenForm } from '../../layout/token-form.tsx';

export function SignInPage(): ReactNode {
  const navigate = useNavigate();
  const enter = () => {
    queryClient.clear();
    void navigate({ to: '/', replace: true });
  };
  return (
    <main className="narrow">
      <Page title="Sign in as an operator">
        <TokenForm onSignedIn={enter} />
      </Page>
    </main>
  );
}
