import type { ReactNode } from 'react';
import type { Account } from '../../../api/api-types.ts';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { environmentOf } from './environment.ts';

/** Which money the account holds. */
export function AccountKind({ account }: { readonly account: Account }): ReactNode {
  const environment = environmentOf(account);
  return (
    <>
      <EnvironmentBadge value={environment} /> {environment === 'live' ? 'person' : 'sandbox'}
    </>
  );
}
