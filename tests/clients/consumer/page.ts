// A partner's page, compiled against the package's declarations: what must compile, and what must
// not.
import { LaurelBrowserError, type LaurelBrowserErrorCode, laurel, type PlayerState } from '@laurel/browser';

laurel.init({ endpoint: '/laurel', headers: () => ({ 'x-session': 's' }) });
laurel.addEventListener('statechange', () => {
  document.title = label(laurel.state);
});

export async function play(challengeId: string): Promise<string | undefined> {
  laurel.arm({ challengeId });
  const attempt = await laurel.begin();
  const { outcome } = await laurel.result({ signal: AbortSignal.timeout(1_000) });
  return outcome?.award?.amount ?? attempt.fee_charged;
}

export function label(state: PlayerState): string {
  return state.status === 'open' ? state.attemptId : state.status;
}

export function codeOf(error: unknown): LaurelBrowserErrorCode | undefined {
  return error instanceof LaurelBrowserError ? error.code : undefined;
}

// @ts-expect-error: a target is a challenge or a round
export const nothing = () => laurel.arm({});
// @ts-expect-error: the handler is on the page's own origin
export const withoutEndpoint = () => laurel.init({});
