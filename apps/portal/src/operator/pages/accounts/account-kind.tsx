import type { ReactNode } from 'react';
import type { Account } from '../../../api/api-types.ts';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { environmentOf } from './environment.ts';

/** Shows whether the account holds real money or play money. */
export function AccountKind({ account }: { readonly account: Account }): ReactNode {
  const environment = environmentOf(account);
  return (
    <>
      <EnvironmentBadge value={environment} /> {environment === 'live' ? 'person' : 'sandbox'}
    </>
  );
}
