/**
 * The request log of a program: the requests that its API keys sent to `/v1`, and the responses.
 */

import { type Refused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { decodeCursor, encodeCursor } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../../domain/idempotency-key.ts';
import { z } from '../../http/zod.ts';
import { presentRequest, presentRequestLine } from '../../presenters/request.ts';
import {
  findRequest,
  isPosition,
  type ListedLine,
  listNewerRequests,
  listNewestRequests,
  listOlderRequests,
  type RequestFilter,
  type RequestScope,
} from '../../repository/requests.ts';
import { component } from '../component.ts';
import { cursorParameter, environmentName, id, nextCursor, page, pathId, text } from '../fields.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineProgramRoute } from './program-route.ts';

const MAX_CODE_CHARACTERS = 64;
const MAX_ROUTE_CHARACTERS = 200;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

const CLASSES = { '2xx': 2, '4xx': 4, '5xx': 5 } as const;

const requestQuery = z
  .object({
    environment: environmentName.openapi({ description: 'Only requests of this environment.' }),
    status: z.enum(['2xx', '4xx', '5xx']).optional().openapi({ description: 'If absent, every status.' }),
    error_code: text(MAX_CODE_CHARACTERS).optional().openapi({ description: 'The code of a failure.' }),
    method: z.enum(METHODS).optional().openapi({ description: 'Only requests with this method.' }),
    route: text(MAX_ROUTE_CHARACTERS)
      .optional()
      .openapi({ description: 'The path of the route, for example `/v1/attempts/{attempt_id}`.' }),
    idempotency_key: text(MAX_IDEMPOTENCY_KEY_CHARACTERS)
      .optional()
      .openapi({ description: 'Only requests with this `Idempotency-Key`.' }),
    attempt_id: id.optional().openapi({ description: 'Only requests that created, read or settled this attempt.' }),
    after: cursorParameter.openapi({
      description: 'A `head_cursor`: returns what was written since, oldest first. Not with `cursor`.',
    }),
    ...page,
  })
  .refine(({ after, cursor }) => after === undefined || cursor === undefined, {
    path: ['after'],
    message: 'must not be sent with cursor',
  });

const lineMembers = {
  request_id: uuid,
  at: timestamp,
  environment: environmentName,
  method: z.string(),
  path: z.string().openapi({ description: 'With its query.' }),
  route: z.string().openapi({ description: '`unknown` if the path and the method have no route.' }),
  status: z.int().openapi({ description: '499 if the caller disconnected before the response.' }),
  error_code: z.string().nullable(),
  duration_ms: z.number(),
  idempotency_key: z.string().nullable(),
  attempt_id: uuid.nullable().openapi({
    description:
      'The attempt that the path names, or that the request created. Null if there is none, or if the log has no body of the response.',
  }),
  replayed: z.boolean().openapi({ description: 'Whether the response is that of an earlier request.' }),
};

const requestLine = component('RequestLine', z.object(lineMembers));

const body = z
  .string()
  .nullable()
  .openapi({ description: 'The first 16 KiB, with "[redacted]" in the place of secrets and e-mails.' });

const requestDetails = component(
  'RequestDetails',
  z.object({
    ...lineMembers,
    user_agent: z.string().nullable(),
    request_body: body,
    request_body_truncated: z.boolean(),
    response_body: body,
    response_body_truncated: z.boolean(),
  }),
);

export const listRequests = defineProgramRoute({
  method: 'get',
  path: '/requests',
  name: 'listRequests',
  summary: 'List the requests of a program',
  description:
    'Requests to `/v1` with a valid API key stay in the log for 7 days. They appear within a second, and are lost if the gateway or its database fails meanwhile. A page of a filtered list may have fewer rows than `limit`, or none, although `next_cursor` is not null.',
  query: requestQuery,
  success: {
    status: 200,
    description: 'Newest first; with `after`, oldest first.',
    schema: component(
      'RequestList',
      z.object({
        data: z.array(requestLine),
        next_cursor: nextCursor,
        head_cursor: z.string().nullable().openapi({
          description:
            'Send it as `after` for what is newer than this page. Null on a page that was read with `cursor`.',
        }),
      }),
    ),
  },
  run: async ({ caller: { program }, query }, { database }: { database: Database }) => {
    const { environment, cursor, after, limit = MAX_PAGE_ROWS } = query;
    const scope: RequestScope = { programId: program.id, environment };
    const filter: RequestFilter = {
      statusClass: query.status === undefined ? null : CLASSES[query.status],
      errorCode: query.error_code ?? null,
      method: query.method ?? null,
      route: query.route ?? null,
      idempotencyKey: query.idempotency_key ?? null,
      attemptId: query.attempt_id ?? null,
    };
    if (after !== undefined) {
      const position = positionOf(after);
      if (position === null) return notOurs('after', 'head_cursor');
      const { lines, head } = await listNewerRequests(database, scope, filter, { after: position, limit });
      return pageOf(lines, null, head);
    }
    if (cursor !== undefined) {
      const position = positionOf(cursor);
      if (position === null) return notOurs('cursor', 'next_cursor');
      const { lines, next } = await listOlderRequests(database, scope, filter, { below: position, limit });
      return pageOf(lines, next, null);
    }
    const { lines, next, head } = await listNewestRequests(database, scope, filter, limit);
    return pageOf(lines, next, head);
  },
});

export const getRequest = defineProgramRoute({
  method: 'get',
  path: '/requests/{requestId}',
  name: 'getRequest',
  summary: 'Read a request with its bodies',
  description:
    'The id is that of the header `X-Request-Id`. A request of another program, and one that is older than 7 days, is 404.',
  params: { requestId: pathId },
  success: { status: 200, description: 'The request.', schema: requestDetails },
  run: async ({ caller: { program }, params: { requestId } }, { database }: { database: Database }) => {
    const found = await findRequest(database, { requestId, programId: program.id });
    return found === null ? refused('not_found') : { body: presentRequest(found) };
  },
});

function pageOf(lines: readonly ListedLine[], next: bigint | null, head: bigint | null) {
  return {
    body: { data: lines.map(presentRequestLine), next_cursor: cursorOf(next), head_cursor: cursorOf(head) },
  };
}

function cursorOf(position: bigint | null): string | null {
  return position === null ? null : encodeCursor([String(position)]);
}

function positionOf(cursor: string): bigint | null {
  const [digits = ''] = decodeCursor(cursor, 1) ?? [];
  if (!/^(?:0|[1-9]\d{0,18})$/.test(digits)) return null;
  const position = BigInt(digits);
  return isPosition(position) ? position : null;
}

function notOurs(parameter: string, member: string): Refused {
  return refused('invalid_request', `${parameter}: must be a ${member} of this list`);
}
