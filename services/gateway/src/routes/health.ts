/**
 * `/healthz` of the public port: the process responds. It shows nothing else; readiness and metrics
 * are on the admin port.
 */
import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';

const BODY = 'ok';
const HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': BODY.length,
};

export const answerHealth: RequestHandler = (_request, response) => {
  const context = contextOf(response);
  context.routeTemplate = '/healthz';
  context.isProbe = true;
  response.writeHead(200, HEADERS).end(BODY);
};
