import type { ReactNode } from 'react';
import type { DescribedAttempt } from '../../api/api-types.ts';
import { utcTime } from '../../kit/format.ts';
import { Time } from '../../kit/time.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { stepsOf } from './timeline-steps.ts';

/** From the request to the webhooks, oldest first, with the time between the steps. */
export function Timeline({ attempt }: { readonly attempt: DescribedAttempt }): ReactNode {
  return (
    <ol className="timeline">
      {stepsOf(attempt).map(({ key, title, detail, tone, at, gap, isAhead, deliveryId }) => (
        <li key={key} data-tone={tone} data-ahead={isAhead}>
          <p className="timeline-title">
            {title}
            {gap !== null && <span className="timeline-gap">{gap}</span>}
          </p>
          {detail !== null && <p>{detail}</p>}
          {at !== null && (
            <p className="muted">
              <span className="timeline-at">{utcTime(at)}</span> · <Time at={at} />
            </p>
          )}
          {deliveryId !== null && <ProgramLink path={`/deliveries/${deliveryId}`}>Open the delivery</ProgramLink>}
        </li>
      ))}
    </ol>
  );
}
