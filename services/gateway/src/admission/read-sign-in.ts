/**
 * A sign-in has no caller yet. Its rate is therefore counted by the client's address, for
 * developers and operators together, before its body is read.
 */
import type { Request, RequestHandler } from 'express';
import { networkOf } from '../domain/client-network.ts';
import type { BodyReader } from '../http/raw-body.ts';
import { limitRate, type RateWindows } from './rate-limit.ts';

/** More bytes than the longest e-mail and password take with every character escaped. */
const MAX_CREDENTIALS_BYTES = 4 * 1024;

export function readSignIn(options: {
  readonly rateWindows: RateWindows;
  readonly bodies: BodyReader;
  readonly limit: number;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
}): readonly RequestHandler[] {
  const { rateWindows, bodies, limit, addressOf } = options;
  const networkOfClient = (request: Request) => networkOf(addressOf(request));
  return [
    limitRate({
      windows: rateWindows,
      limit,
      subjectOf: (request) => ['sign-in', networkOfClient(request)],
      isRateShown: false,
    }),
    (request, response, next) =>
      bodies.read(request, response, `sign-in ${networkOfClient(request)}`, next, MAX_CREDENTIALS_BYTES),
  ];
}
