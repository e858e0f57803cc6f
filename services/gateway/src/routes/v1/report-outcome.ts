import type { HotCalls } from '@laurel/attempts/client';
import { MAX_EVIDENCE_BYTES } from '@laurel/attempts/domain';
import { isRefused } from '@laurel/errors';
import { newId, receiptIdOf } from '@laurel/values/ids';
import { failpoint } from '../../failpoints.ts';
import { replayedResult } from '../../http/route.ts';
import { presentOutcome } from '../../presenters/attempt.ts';
import { outcomeSchema, reportOutcomeBody } from './attempt-schemas.ts';
import { defineTenantRoute } from './route.ts';

export const reportOutcome = defineTenantRoute({
  method: 'post',
  path: '/attempts/{attempt_id}/outcome',
  name: 'reportOutcome',
  summary: 'Report the score of an attempt',
  description:
    'Laurel alone decides, against the frozen threshold. In a round the score goes on the leaderboard, `met_threshold` is false and `award` is null. Reconcile paid winnings on `payout_status` equal to `paid`, never on the presence of `award`.',
  body: reportOutcomeBody,
  verbatim: { evidence: MAX_EVIDENCE_BYTES },
  mintOperationId: () => newId(),
  success: { status: 200, description: 'The outcome is recorded and decided.', schema: outcomeSchema },
  refusals: {
    invalid_request: '`score` is not a finite number; `Idempotency-Key` is missing or longer than 255 characters.',
    not_found: 'There is no such attempt, or it belongs to another program.',
    attempt_already_settled: 'The attempt is no longer open.',
    round_closed: 'The round no longer accepts scores; the attempt expires and its entry is refunded.',
    score_out_of_range:
      'The score is outside the plausibility window that the challenge declares; the attempt expires and is refunded.',
    tiebreak_required:
      'The tournament declares a tiebreak metric; the attempt stays open for a report with `tiebreak`.',
  },
  run: async (
    { caller, params, body, verbatim, operationId, keyUse, options },
    { hotCalls }: { hotCalls: HotCalls },
  ) => {
    await failpoint('gateway.outcome.before-call');
    const outcome = await hotCalls.reportOutcome({
      operationId,
      attemptId: params.attempt_id ?? '',
      tenant: caller.tenant,
      score: body.score,
      tiebreak: body.tiebreak,
      evidenceJson: verbatim.evidence ?? '',
      requestId: options.requestId,
      keyUse,
    });
    await failpoint('gateway.outcome.after-call');
    if (isRefused(outcome)) return outcome;
    const presented = presentOutcome(outcome);
    return outcome.receiptId === receiptIdOf(operationId) ? presented : replayedResult(presented);
  },
});
