import type { ReactNode } from 'react';
import type { DescribedAttempt } from '../api/api-types.ts';
import { utcTime } from '../kit/format.ts';
import { Time } from '../kit/time.tsx';
import { stepsOf } from './timeline-steps.ts';

interface TimelineProps {
  readonly attempt: DescribedAttempt;
  /** The link to a delivery, where deliveries have a page. */
  readonly linkDelivery?: (id: string) => ReactNode;
}

/** Shows the steps from the request to the webhooks, oldest first, with the time between them. */
export function Timeline({ attempt, linkDelivery }: TimelineProps): ReactNode {
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
          {deliveryId !== null && linkDelivery?.(deliveryId)}
        </li>
      ))}
    </ol>
  );
}
