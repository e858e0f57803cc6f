/** `<LiveBar tail={tail} />`: says whether a tail is live, pauses it, shows what is new. */
import type { ReactNode } from 'react';
import type { Failure } from '../api/failure.ts';
import type { LiveTail } from '../api/use-live-tail.ts';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';

interface LiveBarProps {
  readonly tail: Pick<
    LiveTail<unknown>,
    'waiting' | 'isOverfull' | 'showWaiting' | 'isPaused' | 'setPaused' | 'pollFailure'
  >;
}

export function LiveBar({ tail }: LiveBarProps): ReactNode {
  const { waiting, isOverfull, isPaused, pollFailure } = tail;
  const state = isPaused ? 'paused' : isOverfull || pollFailure !== undefined ? 'stopped' : 'live';
  return (
    <div className="live-bar">
      <span className="live-state" data-state={state}>
        {isPaused ? 'Paused' : isOverfull ? 'Stopped' : pollFailure === undefined ? 'Live' : failureWords(pollFailure)}
      </span>
      <Button aria-pressed={isPaused} onClick={() => tail.setPaused(!isPaused)}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <span role="status">
        {waiting > 0 && (
          <Button tone="primary" onClick={tail.showWaiting}>
            {isOverfull ? `More than ${formatCount(waiting - 1)} new: reload` : `${formatCount(waiting)} new`}
          </Button>
        )}
      </span>
    </div>
  );
}

/** Returns a short text, because the bar has one line. */
function failureWords(failure: Failure): string {
  if (failure.kind !== 'refused') return 'No answer: trying again';
  return failure.status === 429 ? 'Asked too often: trying again' : 'Laurel failed: trying again';
}
