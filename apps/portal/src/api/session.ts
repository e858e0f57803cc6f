/**
 * Whether the gateway has accepted the session since the page was loaded, and whether it still
 * does.
 */
import { useSyncExternalStore } from 'react';

/** `missing`: the first call of the page had no session. */
type Session = 'held' | 'missing' | 'ended';

let session: Session = 'held';
let wasAccepted = false;
const listeners = new Set<() => void>();

export function noteAccepted(): void {
  wasAccepted = true;
}

/** Ends the session: every page is replaced by the sign-in, and the address stays. */
export function endSession(): void {
  change(wasAccepted ? 'ended' : 'missing');
}

export function resumeSession(): void {
  change('held');
}

/**
 * Forgets the session after the developer has signed out, so that the next sign-in is the first.
 */
export function forgetSession(): void {
  wasAccepted = false;
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
