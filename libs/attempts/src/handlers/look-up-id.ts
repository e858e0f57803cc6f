/** LookUpId: what an id names in the contest service, for operators. It changes nothing. */
import { type Handlers, parseId, presentTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { FoundItem } from '@laurel/proto/common';
import { ITEM_KINDS } from '@laurel/proto/enum-names';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Contest, NamedContest } from '../contest.ts';
import { shownStatus } from '../domain/attempt.ts';
import { findNamedAttempts, type NamedAttempt } from '../repository/attempts-by-id.ts';

export type LookUpDeps = {
  readonly database: Database;
  readonly contestService: ContestServiceName;
  readonly contest: Pick<Contest, 'findNamed'>;
};

export function lookUpId({
  database,
  contestService,
  contest,
}: LookUpDeps): Handlers<AttemptServiceService>['lookUpId'] {
  return async (request) => {
    const id = parseId(request.id);
    const [attempts, contests] = await Promise.all([
      findNamedAttempts(database, contestService, id),
      contest.findNamed(id),
    ]);
    return { items: [...attempts.flatMap(presentNamedAttempt), ...contests.map(presentNamedContest)] };
  };
}

/** Presents an attempt; returns no items if the attempt is in a state that is never shown. */
function presentNamedAttempt(found: NamedAttempt): readonly FoundItem[] {
  const status = shownStatus(found.status);
  if (status === null) return [];
  return [
    {
      kind: ITEM_KINDS[found.kind],
      tenant: presentTenant(found.tenant),
      attemptId: found.attemptId,
      accountId: found.accountId ?? '',
      summary: `${status}, player ${found.playerRef}`,
    },
  ];
}

function presentNamedContest({ kind, tenant, summary }: NamedContest): FoundItem {
  return { kind: ITEM_KINDS[kind], tenant: presentTenant(tenant), attemptId: '', accountId: '', summary };
}
