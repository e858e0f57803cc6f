/**
 * The contest services, as the settlement of records calls them. After a rejected promise the
 * result is unknown; the caller may send the same id again.
 */
import type { HotCalls } from '@laurel/attempts/client';
import { isRefused, type Refused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { OutcomeReport } from '@laurel/proto/attempts';
import type { SettledRecord } from '@laurel/proto/integration';
import type { Tenant } from '@laurel/values/tenant';
import type { OpenAttempts } from '../domain/attempt-choice.ts';

export type AttemptQuery = {
  readonly tenant: Tenant;
  readonly playerRef: string;
  readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: string };
  /** The id of the request, for the contest service's logs. */
  readonly requestId: string;
};

export interface ContestServices {
  /**
   * Refuses with: not_found, attempt_already_settled, score_out_of_range, round_closed,
   * tiebreak_required, idempotency_key_reused.
   */
  reportOutcome(report: OutcomeReport): Promise<SettledRecord | Refused>;
  /** Refuses with: not_found (the tenant has no such parent). */
  findOpenAttempts(query: AttemptQuery): Promise<OpenAttempts | Refused>;
}

export function createContestServices(
  calls: Pick<HotCalls, 'reportOutcomeWithRepeated' | 'findOpenAttempts'>,
): ContestServices {
  return {
    async reportOutcome(report) {
      const reported = await calls.reportOutcomeWithRepeated(report);
      if (isRefused(reported)) return reported;
      return { ...reported.outcome, repeated: reported.repeated };
    },
    findOpenAttempts: ({ tenant, ...query }) => calls.findOpenAttempts({ ...query, tenant: presentTenant(tenant) }),
  };
}
