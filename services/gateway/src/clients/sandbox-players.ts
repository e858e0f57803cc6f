/**
 * Sandbox players that concurrent requests create or change, a few at a time. Each takes the wallet
 * two transactions, on connections that paid attempts need too. A test that creates hundreds at
 * once waits here. So its calls do not take all of these connections, and do not run past their
 * deadlines, which would open the breaker in front of every call of the wallet.
 *
 * Limits: LANES calls under way; MAX_QUEUED wait, and more are refused immediately;
 * ITEM_DEADLINE_MS from submit to result.
 */
import type { Refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import type { PutSandboxPlayerRequest, PutSandboxPlayerResponse } from '@laurel/proto/wallet';
import type { WalletClient } from './wallet.ts';

const LANES = 4;
/** A full queue is a few seconds of work. */
const MAX_QUEUED = 1_000;
/** A caller has given up after this time. */
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
