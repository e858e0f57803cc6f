/**
 * ListLog: the last pushes and polls of one integration, newest first, each with the results of its
 * records.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { LOG_KINDS } from '@laurel/proto/enum-names';
import type { IntegrationServiceService, LogEntry as LogEntryMessage } from '@laurel/proto/integration';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { MAX_LOG_PAGE_ROWS } from '@laurel/values/limits';
import { type LogEntry, loadLogPage } from '../repository/log-entries.ts';
import { presentRecord } from './present-record.ts';

export function listLog({ database }: { database: Database }): Handlers<IntegrationServiceService>['listLog'] {
  return async (request) => {
    const owner = {
      developerId: parseId(request.developerId),
      programId: request.programId === undefined ? null : parseId(request.programId),
      integrationId: parseId(request.integrationId),
    };
    const { limit } = request;
    if (limit < 1 || limit > MAX_LOG_PAGE_ROWS) throw new Error(`a page of ${limit} entries is out of bounds`);
    const after = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (after === null) return refused('invalid_request', 'The cursor is not valid.');

    // One entry more than requested shows whether another page follows.
    const found = await loadLogPage(database, owner, { after, limit: limit + 1 });
    if (found === null) return refused('not_found');
    const { page, last } = cutPage(found, limit);
    return {
      entries: page.map(presentEntry),
      nextCursor: last === null ? '' : encodePosition(last),
    };
  };
}

function presentEntry({ id, kind, at, bodyExcerpt, error, records }: LogEntry): LogEntryMessage {
  return { id, kind: LOG_KINDS[kind], at, bodyExcerpt, error: error ?? '', records: records.map(presentRecord) };
}
