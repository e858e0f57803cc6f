/**
 * Sandbox players that concurrent requests create or change, a few at a time. For each player the
 * wallet runs two transactions, on connections that paid attempts need too. A test that creates
 * hundreds of players at once has to wait here. Otherwise its calls would take all of these
 * connections, or run past their deadlines, and so open the breaker in front of every call of the
 * wallet.
 *
 * Limits: LANES calls are under way; MAX_QUEUED requests wait, and more are refused immediately; a
 * request has ITEM_DEADLINE_MS from its submission to its result.
 */
import type { Refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import type { PutSandboxPlayerRequest, PutSandboxPlayerResponse } from '@laurel/proto/wallet';
import type { WalletClient } from './wallet.ts';

const LANES = 4;
/** The most requests that wait: a few seconds of work. */
const MAX_QUEUED = 1_000;
/** How long a request may wait: after this time its caller has given up. */
const ITEM_DEADLINE_MS = 20_000;

interface Put {
  readonly request: PutSandboxPlayerRequest;
  readonly requestId: string;
}

export interface SandboxPlayers extends AsyncDisposable {
  put(request: PutSandboxPlayerRequest, options: { requestId: string }): Promise<PutSandboxPlayerResponse | Refused>;
}

export function createSandboxPlayers(wallet: Pick<WalletClient, 'putSandboxPlayer'>): SandboxPlayers {
  const coalescer = createCoalescedCall<Put, PutSandboxPlayerResponse | Refused>({
    name: 'wallet.put_sandbox_player',
    lanes: LANES,
    maxItems: 1,
    maxQueued: MAX_QUEUED,
    call: (puts) => Promise.all(puts.map(({ request, requestId }) => wallet.putSandboxPlayer(request, { requestId }))),
  });
  return {
    put: (request, { requestId }) =>
      coalescer.submit({ request, requestId }, { deadlineAt: Date.now() + ITEM_DEADLINE_MS }),
    [Symbol.asyncDispose]: () => coalescer.drain(),
  };
}
