/** `<AttemptsLink of={{ program_id, environment, challenge_id }} />`: the list with this filter. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment } from '../../api/api-types.ts';

interface AttemptsLinkProps {
  readonly of: {
    readonly program_id: string;
    readonly environment: Environment;
    readonly challenge_id?: string;
    readonly tournament_round_id?: string;
  };
}

export function AttemptsLink({ of }: AttemptsLinkProps): ReactNode {
  return (
    <Link to={'/attempts' as string} search={of}>
      Show attempts
    </Link>
  );
}
