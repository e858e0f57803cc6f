/**
 * Authenticates operators by bearer tokens from the configuration, each with the name of its
 * holder. Wrong tokens are slowed down per client (`domain/token-backoff.ts`), counted in this
 * process alone. Tokens are long enough that counting per replica is strict enough, and wrong
 * tokens never put load on the database.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@laurel/service';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../domain/client-network.ts';
import { afterWrongToken, KNOWN_CLIENT, type TokenFailures, UNKNOWN_CLIENT, waitOf } from '../domain/token-backoff.ts';
import { sendError, sendJson, tooManyRequests } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { bearerTokenOf } from './bearer-token.ts';

export interface OperatorToken {
  /** The operator's name. One name may have two tokens while one replaces the other. */
  readonly name: string;
  readonly token: string;
}

/** Cached clients; the least recently seen are dropped first. */
const MAX_CLIENTS = 10_000;

/**
 * Refuses every request without a valid token. Digests all have one length, so the comparison
 * reveals nothing about the tokens.
 */
export function requireOperator(options: {
  tokens: readonly OperatorToken[];
  clock: Clock;
  addressOf: (request: Request) => string;
}): RequestHandler {
  const { tokens, clock, addressOf } = options;
  const operators = tokens.map(({ name, token }) => ({ name, digest: digest(token) }));
  const clients = new LRUCache<string, TokenFailures>({ max: MAX_CLIENTS });

  /** Compares with every token, so that the time does not depend on which one matches. */
  const operatorOf = (token: string): string | undefined => {
    const presented = digest(token);
    return operators.filter((operator) => timingSafeEqual(presented, operator.digest))[0]?.name;
  };

  return (request, response, next) => {
    const client = networkOf(addressOf(request));
    const failures = clients.get(client) ?? UNKNOWN_CLIENT;
    const now = clock();
    const token = bearerTokenOf(request);
    const wait = token === undefined ? null : waitOf(failures, now);
    const operator = token === undefined || (wait !== null && !failures.isKnown) ? undefined : operatorOf(token);
    if (operator !== undefined) {
      clients.set(client, KNOWN_CLIENT);
      contextOf(response).operator = operator;
      return next();
    }
    if (wait !== null) {
      const { status, body, headers } = tooManyRequests(wait);
      return sendJson(response, status, JSON.stringify(body), headers);
    }
    if (token !== undefined) clients.set(client, afterWrongToken(failures, now));
    sendError(response, 'unauthorized', 'The operator token is missing or not valid.');
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
