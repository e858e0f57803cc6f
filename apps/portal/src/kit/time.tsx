/** `<Time at="2026-11-21T12:00:00.000Z" />`: relative; UTC and local time on hover and focus. */
import { type ReactNode, useSyncExternalStore } from 'react';
import { localTime, relativeTime, utcTime } from './format.ts';
import { Tip } from './tip.tsx';

const TICK_MS = 10_000;

interface TimeProps {
  /** ISO 8601; null reads as "never". */
  readonly at: string | null;
}

export function Time({ at }: TimeProps): ReactNode {
  const now = useNow();
  if (at === null) return <span className="muted">never</span>;
  return (
    <Tip text={() => [utcTime(at), localTime(at)]}>
      <time dateTime={at}>{relativeTime(at, Math.max(now, Date.now()))}</time>
    </Tip>
  );
}

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The current time in milliseconds. All times of a page get a new one together. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
