/**
 * The operators' tokens of the configuration, each with the name of its holder. Wrong tokens slow
 * down their client (`domain/token-backoff.ts`); those in the header and those at sign-in count
 * together. Each process counts alone: tokens are so long that this is strict enough, and a wrong
 * token is refused without the database.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@laurel/service';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../domain/client-network.ts';
import type { OperatorToken } from '../domain/operator-session.ts';
import {
  afterWrongToken,
  type BackoffWait,
  KNOWN_CLIENT,
  type TokenFailures,
  UNKNOWN_CLIENT,
  waitOf,
} from '../domain/token-backoff.ts';

export type TokenVerdict =
  | { readonly kind: 'right'; readonly operator: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly wait: BackoffWait };

export interface OperatorTokens {
  /**
   * Finds the holder of a token that a client has presented. A wrong token counts as a failure of
   * the client.
   */
  check(token: string, address: string): TokenVerdict;
  /** How long a client must wait until its token is compared; null if it need not. */
  waitOf(address: string): BackoffWait | null;
}

/** Cached clients; the least recently seen are dropped first. */
const MAX_CLIENTS = 10_000;

/**
 * Compares digests of tokens. All digests have the same length, so the comparison reveals nothing
 * about the tokens.
 */
export function createOperatorTokens(tokens: readonly OperatorToken[], clock: Clock): OperatorTokens {
  const operators = tokens.map(({ name, token }) => ({ name, digest: digest(token) }));
  const clients = new LRUCache<string, TokenFailures>({ max: MAX_CLIENTS });

  /** Compares with every token, so that the time does not depend on which one matches. */
  const operatorOf = (token: string): string | undefined => {
    const presented = digest(token);
    return operators.filter((operator) => timingSafeEqual(presented, operator.digest))[0]?.name;
  };

  return {
    check(token, address) {
      const client = networkOf(address);
      const failures = clients.get(client) ?? UNKNOWN_CLIENT;
      const now = clock();
      const wait = waitOf(failures, now);
      const operator = wait !== null && !failures.isKnown ? undefined : operatorOf(token);
      if (operator !== undefined) {
        clients.set(client, KNOWN_CLIENT);
        return { kind: 'right', operator };
      }
      if (wait !== null) return { kind: 'limited', wait };
      clients.set(client, afterWrongToken(failures, now));
      return { kind: 'wrong' };
    },
    waitOf(address) {
      const failures = clients.get(networkOf(address)) ?? UNKNOWN_CLIENT;
      return failures.isKnown ? null : waitOf(failures, clock());
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
