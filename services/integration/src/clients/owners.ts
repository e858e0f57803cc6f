/** The owners of attempts, as the settlement of records needs them. A rejection leaves the result unknown; the same id may be sent again. */
import type { Refused } from '@laurel/errors';
import type { SettledRecord } from '@laurel/proto/integration';
import type { OutcomeReport } from '@laurel/proto/tournament';
import type { Tenant } from '@laurel/tenant';
import type { OpenAttempts } from '../domain/attempt-choice.ts';

export type AttemptQuery = {
  readonly tenant: Tenant;
  readonly playerRef: string;
  readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: string };
  /** For the owner's logs. */
  readonly requestId: string;
};

export interface Owners {
  reportOutcome(report: OutcomeReport): Promise<SettledRecord | Refused>;
  /** Refuses: not_found (no such parent of this tenant). */
  findOpenAttempts(query: AttemptQuery): Promise<OpenAttempts | Refused>;
}
