/**
 * `POST /api/attempts/{anything}/outcome`: a retired route, by which browsers reported outcomes. It
 * answers 410 permanently: to any caller, for any path segment, even one that cannot be decoded,
 * and for any body, without waiting for it.
 */
import { DEFAULT_MESSAGE, HTTP_STATUS } from '@laurel/errors';
import type { RequestHandler } from 'express';
import { sendJson } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';

const BODY = JSON.stringify({ error: DEFAULT_MESSAGE.client_reporting_removed, code: 'client_reporting_removed' });

/** Below `/api/attempts`. */
const RETIRED_PATH = /^\/.*\/outcome$/s;

export const retiredOutcome: RequestHandler = (request, response, next) => {
  if (request.method !== 'POST' || !RETIRED_PATH.test(request.path)) return next();
  contextOf(response).routeTemplate = '/api/attempts/{id}/outcome';
  sendJson(response, HTTP_STATUS.client_reporting_removed, BODY);
};
