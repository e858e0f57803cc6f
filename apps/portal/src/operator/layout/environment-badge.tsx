/** `<EnvironmentBadge value="live" />`: whether the money beside it is real. */
import type { ReactNode } from 'react';
import type { Environment } from '../../api/api-types.ts';
import './environment-badge.css';

export function EnvironmentBadge({ value }: { readonly value: Environment }): ReactNode {
  return (
    <span className="environment-badge" data-environment={value}>
      {value}
    </span>
  );
}
