/**
 * ListDeliveries: the log of one endpoint, newest first, each delivery with every send. With a
 * position: the deliveries that were added after it, oldest first.
 */

import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { DELIVERY_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { DeliveryStatus, type WebhookServiceService } from '@laurel/proto/webhook';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { decodeTail, encodeTail } from '../domain/log-tail.ts';
import { loadLogPage, loadLogTail } from '../repository/delivery-log.ts';
import { presentDelivery } from './present-delivery.ts';

export function listDeliveries({
  database,
}: {
  database: Database;
}): Handlers<WebhookServiceService>['listDeliveries'] {
  return async (request) => {
    const owner = { developerId: parseId(request.developerId), endpointId: parseId(request.endpointId) };
    const status = request.status === DeliveryStatus.UNSPECIFIED ? null : nameOf(DELIVERY_STATUSES, request.status);
    const eventType = request.event === '' ? null : request.event;
    const { limit } = request;
    if (limit < 1 || limit > MAX_PAGE_ROWS) throw new Error(`a page of ${limit} deliveries is out of bounds`);
    if (request.after !== '') {
      const position = decodeTail(request.after);
      if (position === null || request.cursor !== '') return refused('invalid_request', 'The cursor is not valid.');
      const tail = await loadLogTail(database, owner, { status, eventType }, { position, limit });
      if (tail === null) return refused('not_found');
      return { deliveries: tail.deliveries.map(presentDelivery), nextCursor: '', headCursor: encodeTail(tail.head) };
    }

    const after = request.cursor === '' ? TOP : decodePosition(request.cursor);
    if (after === null) return refused('invalid_request', 'The cursor is not valid.');
    // One delivery more than requested shows whether another page follows.
    const found = await loadLogPage(database, owner, { status, eventType }, { after, limit: limit + 1 });
    if (found === null) return refused('not_found');
    const { page, last } = cutPage(found.deliveries, limit);
    return {
      deliveries: page.map(presentDelivery),
      nextCursor: last === null ? '' : encodePosition({ at: last.createdAt, id: last.id }),
      headCursor: request.cursor === '' ? encodeTail(found.head) : '',
    };
  };
}
