/**
 * `<Loaded reading={useRead(...)}>{(data) => ...}</Loaded>`: placeholders while it loads, the
 * problem if it failed, and what the function returns once it is there.
 */
import type { ReactNode } from 'react';
import type { Reading } from '../api/use-read.ts';
import { Problem } from './problem.tsx';

interface LoadedProps<T> {
  readonly reading: Reading<T>;
  readonly children: (data: T) => ReactNode;
}

export function Loaded<T>({ reading, children }: LoadedProps<T>): ReactNode {
  if (reading.state === 'failed') return <Problem failure={reading.failure} retry={reading.retry} />;
  if (reading.state === 'loaded') return children(reading.data);
  return (
    <div className="loading" role="status">
      <span className="for-screen-readers">Loading</span>
      <span />
      <span />
      <span />
    </div>
  );
}
