/**
 * `<EnvironmentTabs path="/programs/.../challenges" current="live" />` chooses the environment of a
 * list; `<EnvironmentBand environment="live" />` says on a page what is at stake.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment } from '../../api/api-types.ts';
import { EnvironmentWords } from '../../kit/environment-words.tsx';
import { capitalised } from '../../kit/format.ts';

export const ENVIRONMENTS = ['live', 'test'] as const satisfies readonly Environment[];

interface EnvironmentTabsProps {
  readonly path: string;
  readonly current: Environment;
}

export function EnvironmentTabs({ path, current }: EnvironmentTabsProps): ReactNode {
  return (
    <nav className="environments" aria-label="Environment">
      {ENVIRONMENTS.map((environment) => (
        <Link
          key={environment}
          to={path as string}
          search={{ environment }}
          aria-current={environment === current ? 'true' : undefined}
        >
          {capitalised(environment)}
        </Link>
      ))}
    </nav>
  );
}

export function EnvironmentBand({ environment }: { readonly environment: Environment }): ReactNode {
  return (
    <p className="banner environment-band" data-environment={environment}>
      <EnvironmentWords environment={environment} />
    </p>
  );
}
