/**
 * Validates all that the request alone decides: its query, its idempotency key, its body. The first
 * validation issue is a 400.
 */
import { refused } from '@laurel/errors';
import type { Request, RequestHandler } from 'express';
import { isIdempotencyKeyShortEnough, MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/idempotency-key.ts';
import { sendError } from './answer.ts';
import { contextOf, type InputVerdict, type RequestContext } from './context.ts';
import { EMPTY_OBJECT, parseJsonBody } from './json-body.ts';
import type { AnyRoute, ApiArea } from './route.ts';
import { type ValidationIssue, validationIssuesOf } from './validation-issues.ts';
import { objectOf, z } from './zod.ts';

const NOTHING_VERBATIM: Readonly<Record<string, string>> = {};
const NOT_FOUND: InputVerdict = { kind: 'invalid', refusal: refused('not_found') };

/** Checks a request against its route, once: a second call returns the same result. */
export type InputCheck = (request: Request, context: RequestContext) => InputVerdict;

/** Lets a request pass if its input is valid. */
export function validate(route: AnyRoute, area: ApiArea, check: InputCheck): RequestHandler {
  const routeTemplate = `${area.prefix}${route.path}`;
  return (request, response, next) => {
    const context = contextOf(response);
    context.routeTemplate = routeTemplate;
    const checked = check(request, context);
    if (checked.kind === 'valid') return next();
    const { refusal, details } = checked;
    sendError(response, refusal.code, refusal.message, details);
  };
}

export function inputCheckOf(route: AnyRoute, area: ApiArea): InputCheck {
  const needsIdempotencyKey = route.mintOperationId !== undefined;
  const verbatimLimits = Object.entries(route.verbatim ?? {});
  const verbatimNames = verbatimLimits.map(([name]) => name);
  const querySchema = querySchemaOf(route, area);
  const unfit = area.listsIssuesIn === 'details' ? invalidWithDetails : invalidWithList;

  const check: InputCheck = (request, context) => {
    let idempotencyKey = '';
    if (needsIdempotencyKey) {
      const header = request.headers['idempotency-key'];
      if (typeof header !== 'string' || header === '') return invalid('The header `Idempotency-Key` is missing.');
      if (!isIdempotencyKeyShortEnough(header)) {
        return invalid(`The header \`Idempotency-Key\` is longer than ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters.`);
      }
      idempotencyKey = header;
    }

    let query: unknown;
    if (querySchema !== undefined) {
      const sent = readQuery(request.url);
      if (sent === null) return invalid('The query is not valid.');
      const checked = querySchema.safeParse(sent);
      if (!checked.success) return unfit('query', validationIssuesOf(checked.error));
      query = checked.data;
    }

    let body: unknown;
    let sentBody: unknown;
    let verbatim = NOTHING_VERBATIM;
    if (route.body !== undefined) {
      const json = readBody(route, request, context, verbatimNames);
      if (json.kind === 'invalid') return invalid(json.message);
      const checked = route.body.safeParse(json.value);
      if (!checked.success) return unfit('body', validationIssuesOf(checked.error));
      for (const [name, maxBytes] of verbatimLimits) {
        const text = json.verbatim[name];
        if (text !== undefined && Buffer.byteLength(text) > maxBytes) {
          return unfit('body', [{ field: name, message: `must have at most ${maxBytes / 1024} KiB` }]);
        }
      }
      body = checked.data;
      sentBody = json.exact;
      verbatim = json.verbatim;
    }

    let params: unknown;
    if (route.params === undefined) params = lowerCased(request.params);
    else {
      const checked = route.params.safeParse(request.params);
      if (!checked.success) return NOT_FOUND;
      params = checked.data;
    }
    return { kind: 'valid', input: { params, query, body, sentBody, verbatim, idempotencyKey } };
  };
  return (request, context) => {
    context.checked ??= check(request, context);
    return context.checked;
  };
}

/**
 * The schema of a route's query. Undefined if the route reads no query and its area ignores unknown
 * parameters. Other areas refuse them, because a misspelt filter would otherwise have no effect.
 */
function querySchemaOf(route: AnyRoute, area: ApiArea): z.ZodType | undefined {
  if (area.unknownParameters === 'ignored') return route.query;
  return route.query === undefined ? z.strictObject({}) : objectOf(route.query).strict();
}

/**
 * The valid body, even if the rest of the request is not valid; undefined if the body is not valid.
 */
export function validBodyOf(route: AnyRoute, request: Request, context: RequestContext): unknown {
  const json = route.body === undefined ? undefined : readBody(route, request, context);
  return json?.kind === 'parsed' ? route.body?.safeParse(json.value).data : undefined;
}

function readBody(route: AnyRoute, request: Request, context: RequestContext, verbatimNames: readonly string[] = []) {
  const isAbsent = !context.isBodyTooLarge && (context.rawBody?.length ?? 0) === 0;
  return route.isBodyOptional && isAbsent ? EMPTY_OBJECT : parseJsonBody(request, context, verbatimNames);
}

/** A query as an object; null if it is not valid percent-encoding, or names a parameter twice. */
export function readQuery(url: string): Record<string, string> | null {
  const start = url.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (start === -1) return query;
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    try {
      const name = decode(equals === -1 ? pair : pair.slice(0, equals));
      if (name in query) return null;
      query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
    } catch {
      return null;
    }
  }
  return query;
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Every parameter without a schema of its own is a uuid, and ids are lower case. */
function lowerCased(params: Readonly<Record<string, string | string[]>>): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const name of Object.keys(params)) lower[name] = String(params[name]).toLowerCase();
  return lower;
}

function invalid(message: string, details?: object): InputVerdict {
  return { kind: 'invalid', refusal: refused('invalid_request', message), details };
}

function invalidWithDetails(part: 'query' | 'body', issues: readonly ValidationIssue[]): InputVerdict {
  return invalid(`The ${part} is not valid.`, { issues });
}

function invalidWithList(_part: 'query' | 'body', issues: readonly ValidationIssue[]): InputVerdict {
  return invalid(issues.map(({ field, message }) => [field, message].filter(Boolean).join(': ')).join('; '));
}
