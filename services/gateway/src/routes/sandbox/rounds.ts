import type { TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentRound } from '../../presenters/tournament.ts';
import { pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { roundSchema } from '../v1/tournament-schemas.ts';
import { defineSandboxRoute } from './route.ts';

/**
 * How long closing a round may take: it also pays the round, and responds once the payment is done.
 */
const CLOSE_DEADLINE_MS = 60_000;

const params = z.object({ roundId: pathId });
const refusals = { conflict: 'The round is not open.' };

export const closeEntries = defineSandboxRoute({
  method: 'post',
  path: '/rounds/{roundId}/close-entries',
  name: 'closeEntries',
  summary: "Close a round's entries now, as ten minutes before its end",
  description:
    'Open attempts can still report their scores. A repeated call changes nothing. A round that has not begun is a `conflict`.',
  params,
  success: { status: 200, description: 'The round.', schema: roundSchema },
  refusals,
  run: async ({ caller, params: { roundId }, options }, { tournament }: { tournament: TournamentClient }) => {
    const closed = await tournament.closeEntries({ tenant: caller, roundId }, options);
    return isRefused(closed) ? closed : { body: presentRound(defined(closed.round)) };
  },
});

export const closeRound = defineSandboxRoute({
  method: 'post',
  path: '/rounds/{roundId}/close',
  name: 'closeRound',
  summary: 'Close a round now, as at its end, and settle or cancel it',
  description:
    'The response arrives when every payout and every refund is made, which may take up to a minute. After a failure call the route again: it continues. A round that is settled or cancelled is a `conflict`.',
  params,
  success: { status: 200, description: 'The round, settled or cancelled.', schema: roundSchema },
  refusals,
  run: async ({ caller, params: { roundId }, options }, { tournament }: { tournament: TournamentClient }) => {
    const closed = await tournament.closeRound(
      { tenant: caller, roundId },
      { ...options, deadlineMs: CLOSE_DEADLINE_MS },
    );
    return isRefused(closed) ? closed : { body: presentRound(defined(closed.round)) };
  },
});
