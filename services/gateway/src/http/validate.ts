/** Everything that can be validated from the request alone: its query, its idempotency key, its body. The first validation issue is a 400. */
import type { Request, RequestHandler } from 'express';
import { isIdempotencyKeyShortEnough, MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/idempotency-key.ts';
import { sendError } from './answer.ts';
import { contextOf, type InputVerdict, type RequestContext } from './context.ts';
import { parseJsonBody } from './json-body.ts';
import type { V1Route } from './v1-route.ts';
import { validationIssuesOf } from './validation-issues.ts';

const NOTHING_VERBATIM: Readonly<Record<string, string>> = {};

/** Checks a request of its route, once: a second call returns the same result. */
export type InputCheck = (request: Request, context: RequestContext) => InputVerdict;

/** Lets a request pass whose input is valid. */
export function validate(route: V1Route<never>, check: InputCheck): RequestHandler {
  const routeTemplate = `/v1${route.path}`;
  return (request, response, next) => {
    const context = contextOf(response);
    context.routeTemplate = routeTemplate;
    const checked = check(request, context);
    if (checked.kind === 'invalid') return sendError(response, 'invalid_request', checked.message, checked.details);
    context.input = checked.input;
    next();
  };
}

export function inputCheckOf(route: V1Route<never>): InputCheck {
  const needsIdempotencyKey = route.mintOperationId !== undefined;
  const verbatimLimits = Object.entries(route.verbatim ?? {});
  const verbatimNames = verbatimLimits.map(([name]) => name);

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
    if (route.query !== undefined) {
      const sent = readQuery(request.url);
      if (sent === null) return invalid('The query is not valid.');
      const checked = route.query.safeParse(sent);
      if (!checked.success) return invalid('The query is not valid.', { issues: validationIssuesOf(checked.error) });
      query = checked.data;
    }

    let body: unknown;
    let sentBody: unknown;
    let verbatim = NOTHING_VERBATIM;
    if (route.body !== undefined) {
      const json = parseJsonBody(request, context, verbatimNames);
      if (json.kind === 'invalid') return json;
      const checked = route.body.safeParse(json.value);
      if (!checked.success) return invalid('The body is not valid.', { issues: validationIssuesOf(checked.error) });
      for (const [name, maxBytes] of verbatimLimits) {
        const text = json.verbatim[name];
        if (text !== undefined && Buffer.byteLength(text) > maxBytes) {
          const message = `must have at most ${maxBytes / 1024} KiB`;
          return invalid('The body is not valid.', { issues: [{ field: name, message }] });
        }
      }
      body = checked.data;
      sentBody = json.exact;
      verbatim = json.verbatim;
    }

    const params = lowerCased(request.params);
    return { kind: 'valid', input: { params, query, body, sentBody, verbatim, idempotencyKey } };
  };
  return (request, context) => {
    context.checked ??= check(request, context);
    return context.checked;
  };
}

/** A query as an object; null when it is not valid percent-encoding, or names a parameter twice. */
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

/** Every parameter of `/v1` is a uuid, and ids are lower case. */
function lowerCased(params: Readonly<Record<string, string | string[]>>): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const name of Object.keys(params)) lower[name] = String(params[name]).toLowerCase();
  return lower;
}

function invalid(message: string, details?: object): InputVerdict {
  return { kind: 'invalid', message, details };
}
