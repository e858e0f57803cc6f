/**
 * The pushes of concurrent requests, in one array for each call of the integration service.
 *
 * Limits     LANES batches under way and MAX_ITEMS in one, so that a batch of the largest bodies fits into one message; MAX_QUEUED wait,
 *            and more are refused immediately; ITEM_DEADLINE_MS from submit to answer, which also bounds a call and its one retry.
 * Invariants a batch that fails fails all of its items. It is sent once more when the connection broke: the same report again gets its
 *            first answer. An item that fails rejects alone.
 */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import type { BatchResult, Push, PushResult, SettledRecord } from '@laurel/proto/integration';
import type { IntegrationClient } from './integration.ts';

/** Two batches in flight hide the network round trip; more would only make each smaller. */
const LANES = 2;
/** 48 bodies of 256 KiB are 12 MiB; a message may have 16. */
const MAX_ITEMS = 48;
/** About a second of work: items beyond it would time out. */
const MAX_QUEUED = 2_000;
/** For an item, its time in the queue included. */
const ITEM_DEADLINE_MS = 8_000;

/** The body was one record, which settled its attempt; or several, or one that settles nothing. */
export type ReceivedPush =
  | { readonly kind: 'settled'; readonly record: SettledRecord }
  | { readonly kind: 'batch'; readonly batch: BatchResult };

export interface Pushes extends AsyncDisposable {
  /** A rejection leaves the result unknown; the same push may be sent again. */
  receive(push: Push): Promise<ReceivedPush | Refused>;
}

export function createPushes(integration: Pick<IntegrationClient, 'receivePushes'>): Pushes {
  const coalescer = createCoalescedCall<Push, PushResult>({
    name: 'integration.receive_pushes',
    lanes: LANES,
    maxItems: MAX_ITEMS,
    maxQueued: MAX_QUEUED,
    call: async (pushes) => {
      const response = await integration.receivePushes({ pushes: [...pushes] }, { retryLostReply: true });
      if (isRefused(response)) throw new Error(`pushes are refused one by one, never together: ${response.code}`);
      return response.results;
    },
  });
  return {
    async receive(push) {
      const { result } = await coalescer.submit(push, { deadlineAt: Date.now() + ITEM_DEADLINE_MS });
      switch (result?.$case) {
        case 'settled':
          return { kind: 'settled', record: result.value };
        case 'batch':
          return { kind: 'batch', batch: result.value };
        case 'refused':
          if (!isApiErrorCode(result.value.code))
            throw new Error('a push was refused with a code that is none of ours');
          return refused(result.value.code, result.value.message || undefined);
        case 'failure':
          throw new Error(`the integration service failed on this push: ${result.value.message}`);
        case undefined:
          throw new Error('the integration service gave no result for a push');
      }
    },
    [Symbol.asyncDispose]: () => coalescer.drain(),
  };
}
