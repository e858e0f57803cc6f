/**
 * Sends the pushes of concurrent requests to the integration service, many in one call.
 *
 * - Groups: live, test, and integrations whose environment no signature has shown yet. Each has its
 *   own queue and lanes, so a push to a live integration never waits behind a test push, and never
 *   shares a batch with one.
 * - Limits: a group has LANES batches under way. A batch holds at most MAX_ITEMS pushes and
 *   MAX_BATCH_BYTES of bodies, so that other calls get their turns in between. MAX_QUEUED pushes
 *   wait; more are refused immediately. A push has ITEM_DEADLINE_MS from its submission to its
 *   result; this also bounds a call and its one retry.
 * - Invariants: if a call fails, all pushes of its batch fail. If the connection broke, the batch
 *   is sent once more: a repeated report gets its first result. The failure of a single push
 *   rejects that push alone.
 */
import { createSeparateCoalescers } from '@laurel/coalesce';
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createCoalescedCall, parseTenant } from '@laurel/grpc';
import type { BatchResult, Push, PushResult, SettledRecord } from '@laurel/proto/integration';
import { MAX_BODY_BYTES } from '@laurel/values/limits';
import type { PushCost } from '../admission/push-limits.ts';
import type { IntegrationClient } from './integration.ts';

/**
 * The most batches of a group under way. Two hide the network round trip; more would only make each
 * batch smaller.
 */
const LANES = 2;
const MAX_ITEMS = 48;
/** The bytes of two of the largest bodies, which take some milliseconds to verify and read. */
const MAX_BATCH_BYTES = 2 * MAX_BODY_BYTES;
/** The most pushes of a group that wait: about a second of work. Further pushes would time out. */
const MAX_QUEUED = 2_000;
/** The deadline of one item, including its time in the queue. */
const ITEM_DEADLINE_MS = 8_000;

/**
 * What a push contained: one record, which settled its attempt; or a batch of several records, or
 * of one record that settled nothing.
 */
export type ReceivedPush =
  | { readonly kind: 'settled'; readonly record: SettledRecord }
  | { readonly kind: 'batch'; readonly batch: BatchResult };

const GROUPS = ['live', 'test', 'unknown'] as const;
/** The environment of the push's integration. */
export type PushGroup = (typeof GROUPS)[number];

export interface PushAnswer {
  readonly answer: ReceivedPush | Refused;
  /** Null unless the signature is valid. */
  readonly cost: PushCost | null;
}

export interface PushClient extends AsyncDisposable {
  /** A rejection leaves the result unknown; the same push may be sent again. */
  receive(push: Push, group: PushGroup): Promise<PushAnswer>;
}

type Grouped = { readonly push: Push; readonly group: PushGroup };

export function createPushClient(integration: Pick<IntegrationClient, 'receivePushes'>): PushClient {
  const coalescer = createSeparateCoalescers<Grouped, PushResult, PushGroup>({
    groups: GROUPS,
    groupOf: ({ group }) => group,
    create: () =>
      createCoalescedCall<Grouped, PushResult>({
        name: 'integration.receive_pushes',
        lanes: LANES,
        maxItems: MAX_ITEMS,
        maxWeight: MAX_BATCH_BYTES,
        weightOf: ({ push }) => push.body.length,
        maxQueued: MAX_QUEUED,
        call: async (grouped) => {
          const pushes = grouped.map(({ push }) => push);
          const response = await integration.receivePushes({ pushes }, { retryLostReply: 'immediately' });
          if (isRefused(response))
            throw new Error(`the integration service refused a whole batch of pushes: ${response.code}`);
          return response.results;
        },
      }),
  });
  return {
    async receive(push, group) {
      const deadlineAt = Date.now() + ITEM_DEADLINE_MS;
      const { result, tenant, extraCostBytes } = await coalescer.submit({ push, group }, { deadlineAt });
      const cost =
        tenant === undefined ? null : { tenant: parseTenant(tenant), extraCostBytes: Number(extraCostBytes) };
      return { answer: answerOf(result), cost };
    },
    [Symbol.asyncDispose]: () => coalescer.drain(),
  };
}

function answerOf(result: PushResult['result']): ReceivedPush | Refused {
  switch (result?.$case) {
    case 'settled':
      return { kind: 'settled', record: result.value };
    case 'batch':
      return { kind: 'batch', batch: result.value };
    case 'refused':
      if (!isApiErrorCode(result.value.code))
        throw new Error(`a push was refused with an unknown error code: ${result.value.code}`);
      return refused(result.value.code, result.value.message || undefined);
    case 'failure':
      throw new Error(`the integration service failed on this push: ${result.value.message}`);
    case undefined:
      throw new Error('the integration service gave no result for a push');
  }
}
