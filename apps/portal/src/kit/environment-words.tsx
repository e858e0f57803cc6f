/** `<EnvironmentWords environment="test" />`: what is at stake in an environment. */
import type { ReactNode } from 'react';
import type { Environment } from '../api/api-types.ts';

export function EnvironmentWords({ environment }: { readonly environment: Environment }): ReactNode {
  return environment === 'test' ? (
    <>
      <strong>Test environment</strong> Sandbox players, no real money.
    </>
  ) : (
    <>
      <strong>Live environment</strong> Real players and real money.
    </>
  );
}
