/** `<Prize challenge={challenge} />`: what is on offer, and the full prize while a ramp caps it. */
import type { ReactNode } from 'react';
import type { OperatorChallenge } from '../api/api-types.ts';
import { Money } from '../kit/money.tsx';

export function Prize({ challenge: { prize, ramp } }: { readonly challenge: OperatorChallenge }): ReactNode {
  return (
    <>
      <Money amount={prize} />
      {ramp !== undefined && (
        <span className="muted">
          {' '}
          of <Money amount={ramp.fullPrize} />
        </span>
      )}
    </>
  );
}
