/**
 * ListSandboxEvents: the events of a program's sandbox in commit order, for a reader that keeps a
 * cursor.
 */

import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { type SandboxEvent, SandboxEventsStart, type WebhookServiceService } from '@laurel/proto/webhook';
import { decodeCursor, encodeCursor } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { decidePage, type LoggedEvent, type LogStart } from '../domain/sandbox-log.ts';
import { loadSandboxPage } from '../repository/sandbox-events.ts';

/** A position of 18 digits fits in PostgreSQL's bigint. */
const POSITION = /^\d{1,18}$/;

export function listSandboxEvents({
  database,
}: {
  database: Database;
}): Handlers<WebhookServiceService>['listSandboxEvents'] {
  return async (request) => {
    const { programId, environment } = parseTenant(request.tenant);
    if (environment !== 'test') throw new Error('only the events of a sandbox can be listed');
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} events is out of bounds`);
    const start = request.cursor === '' ? startOf(request.start) : decodeStart(request.cursor, programId);
    if (start === null) return refused('invalid_request', 'The cursor is not valid.');

    const after = typeof start === 'bigint' ? start : 0n;
    const page = await loadSandboxPage(database, programId, { after, limit: start === 'now' ? 0 : limit });
    const decided = decidePage(start, page);
    if (isRefused(decided)) return decided;
    return {
      events: decided.events.map((event) => presentEvent(event, programId)),
      nextCursor: encodeStart(decided.next, programId),
    };
  };
}

function startOf(start: SandboxEventsStart): LogStart {
  return start === SandboxEventsStart.OLDEST ? 'oldest' : 'now';
}

/** A cursor names its program, because its position means nothing in another program's log. */
function decodeStart(cursor: string, programId: string): bigint | null {
  const [owner, position = ''] = decodeCursor(cursor, 2) ?? [];
  return owner === programId && POSITION.test(position) ? BigInt(position) : null;
}

function encodeStart(position: bigint, programId: string): string {
  return encodeCursor([programId, position.toString()]);
}

function presentEvent({ position, id, type, createdAt, body }: LoggedEvent, programId: string): SandboxEvent {
  return { id, event: type, createdAt, body: body.toString('utf8'), cursor: encodeStart(position, programId) };
}
