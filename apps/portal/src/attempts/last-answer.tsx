import type { ReactNode } from 'react';
import type { AttemptDelivery } from '../api/api-types.ts';
import { HttpStatus } from '../kit/status.tsx';

/** Shows how the newest send of a delivery was answered, and how many sends there were. */
export function LastAnswer({ attempts }: Pick<AttemptDelivery, 'attempts'>): ReactNode {
  const last = attempts.at(-1);
  if (last === undefined) return <span className="muted">not sent yet</span>;
  return (
    <>
      <HttpStatus value={last.http_status} />{' '}
      <span className="muted">{attempts.length === 1 ? '1 send' : `${attempts.length} sends`}</span>
    </>
  );
}
