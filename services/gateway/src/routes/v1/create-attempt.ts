import type { HotCalls } from '@laurel/attempts/client';
import { MAX_METADATA_BYTES } from '@laurel/attempts/domain';
import { isRefused } from '@laurel/errors';
import { newOwnedId } from '@laurel/values/ids';
import { failpoint } from '../../failpoints.ts';
import { replayedResult } from '../../http/route.ts';
import { presentAttempt } from '../../presenters/attempt.ts';
import { attemptSchema, createAttemptBody } from './attempt-schemas.ts';
import { defineTenantRoute } from './route.ts';

export const createAttempt = defineTenantRoute({
  method: 'post',
  path: '/attempts',
  name: 'createAttempt',
  summary: 'Create an attempt and charge the fee',
  description:
    'Against a challenge, the fee, the threshold and the prize on offer are frozen on the attempt. In a round, every attempt costs its `entry_fee`, re-buys included. No 4xx charges anything.',
  body: createAttemptBody,
  verbatim: { metadata: MAX_METADATA_BYTES },
  // The operation id is the attempt's id: any request that runs the operation again creates the
  // same attempt.
  mintOperationId: (body) => newOwnedId(body.challenge_id === undefined ? 'tournament' : 'challenge'),
  success: {
    status: 201,
    description: 'The attempt is created and charged: it is `open`, and its `outcome` is null.',
    schema: attemptSchema,
  },
  refusals: {
    invalid_request:
      'The request names both parents or neither, or lacks `player_ref`; `Idempotency-Key` is missing or longer than 255 characters.',
    insufficient_funds: 'The player cannot fund the fee.',
    blocked: 'The player may not play for money. Do not retry.',
    insider_entry: "An insider of the program may not enter the program's own live tournament.",
    not_found: 'The program has no such challenge or round.',
    challenge_not_available:
      'The challenge is suspended or closed, its prize is above the tier ceiling, or its unconfirmed bar has 100 attempts in progress.',
    challenge_already_claimed: 'The player was already paid this prize. This is permanent.',
    rung_locked: 'The player has not claimed the parent rung yet.',
    attempt_cap_reached: "The player reached the rolling daily cap of the challenge, or the round's cap per player.",
    entries_closed: 'The round is not open, or is in its last ten minutes.',
  },
  run: async ({ caller, body, verbatim, operationId, keyUse, options }, { hotCalls }: { hotCalls: HotCalls }) => {
    await failpoint('gateway.create.before-call');
    const attempt = await hotCalls.createAttempt({
      attemptId: operationId,
      tenant: caller.tenant,
      contestId: body.challenge_id ?? body.tournament_round_id ?? '',
      playerRef: body.player_ref,
      metadataJson: verbatim.metadata ?? '{}',
      requestId: options.requestId,
      keyUse,
    });
    await failpoint('gateway.create.after-call');
    if (isRefused(attempt)) return attempt;
    const presented = presentAttempt(attempt);
    return attempt.id === operationId ? presented : replayedResult(presented);
  },
});
