import type { ReactNode } from 'react';
import { Status } from '../../../kit/status.tsx';
import { concernsOf } from '../payouts/concerns.ts';

/** The flags of an account. */
export function AccountFlags({ account }: { readonly account: Parameters<typeof concernsOf>[0] }): ReactNode {
  const concerns = concernsOf(account, new Date());
  if (concerns.length === 0) return <span className="muted">no flags</span>;
  return concerns.map((concern) => (
    <span key={concern}>
      <Status value={concern} tone="bad" />{' '}
    </span>
  ));
}
