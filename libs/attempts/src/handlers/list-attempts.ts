/**
 * ListAttempts: a tenant's or an account's attempts in the order of their creation. It changes
 * nothing.
 */
import { type Handlers, parseId, parseTenant, presentTenant } from '@laurel/grpc';
import type { AttemptServiceService, ListAttemptsRequest } from '@laurel/proto/attempts';
import { AttemptStatus } from '@laurel/proto/attempts';
import { ATTEMPT_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { AttemptPosition } from '../repository/attempt-windows.ts';
import { type AttemptQuery, type ListDeps, type ListedOf, listAttempts as listPage } from '../steps/list-attempts.ts';
import { presentAttempt } from './present.ts';

export function listAttempts(deps: ListDeps): Handlers<AttemptServiceService>['listAttempts'] {
  return async (request) => {
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} attempts is out of bounds`);
    const { attempts, readTo, head } = await listPage(
      {
        of: parseOf(request),
        contestId: request.contestId === '' ? null : parseId(request.contestId),
        playerRef: request.playerRef === '' ? null : request.playerRef,
        status: request.status === AttemptStatus.UNSPECIFIED ? null : nameOf(ATTEMPT_STATUSES, request.status),
        from: parseFrom(request.from),
        limit,
      },
      deps,
    );
    return {
      attempts: attempts.map(({ result, ...found }) => ({
        attempt: presentAttempt({ ...found, metadata: '' }, result),
        isAwardDenied: result?.award?.status === 'denied',
        tenant: presentTenant(found.tenant),
        accountId: found.attempt.accountId ?? '',
      })),
      readTo: readTo ?? undefined,
      head: head ?? undefined,
    };
  };
}

function parseOf({ tenant, accountId, programIds }: ListAttemptsRequest): ListedOf {
  if (accountId === '') return { kind: 'tenant', tenant: parseTenant(tenant) };
  const account = { kind: 'account' as const, accountId: parseId(accountId) };
  if (tenant === undefined)
    return { ...account, programIds: programIds.length === 0 ? null : programIds.map(parseId), environment: null };
  const { programId, environment } = parseTenant(tenant);
  return { ...account, programIds: [programId], environment };
}

function parseFrom(from: ListAttemptsRequest['from']): AttemptQuery['from'] {
  if (from === undefined) return { kind: 'head' };
  return { kind: from.$case, position: parsePosition(from.value) };
}

function parsePosition({ createdAt, id }: { createdAt?: Date | undefined; id: string }): AttemptPosition {
  if (createdAt === undefined) throw new Error('a position has no instant');
  return { createdAt, id: parseId(id) };
}
