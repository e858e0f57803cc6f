/**
 * The sessions that operators open with a token. They are not cached between calls, so a session
 * that was ended is over immediately on every replica. A session is not valid on a replica whose
 * configuration lacks its token or its operator.
 */
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import {
  hashOperatorSession,
  hashOperatorToken,
  OPERATOR_SESSION_MS,
  type OperatorSession,
  type OperatorToken,
} from '../domain/operator-session.ts';
import { hashesUnder, type Peppers } from '../domain/peppers.ts';
import { mintToken } from '../domain/session.ts';
import { deleteOperatorSession, findOperatorSession, insertOperatorSession } from '../repository/operator-sessions.ts';

export interface OperatorSessions {
  /** Begins a session of the token's holder. */
  begin(by: OperatorToken): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /**
   * The holder of the session with this token; null if there is no such session, or it has ended.
   */
  find(token: string): Promise<{ readonly operator: string; readonly session: OperatorSession } | null>;
  end(session: OperatorSession): Promise<void>;
}

export function createOperatorSessions(options: {
  database: Database;
  peppers: Peppers;
  tokens: readonly OperatorToken[];
  clock: Clock;
}): OperatorSessions {
  const { database, peppers, tokens, clock } = options;
  const pepper = peppers.current.bytes;
  /** The holders of tokens, by every hash by which a session may refer to a holder's token. */
  const holders = new Map(
    tokens.flatMap((token) =>
      hashesUnder(peppers, (one) => hashOperatorToken(one, token)).map((hash) => [hash.toString('hex'), token.name]),
    ),
  );

  return {
    async begin(by) {
      const token = mintToken();
      const createdAt = clock();
      const expiresAt = new Date(createdAt.getTime() + OPERATOR_SESSION_MS);
      await insertOperatorSession(database, {
        tokenHash: hashOperatorSession(pepper, token),
        operator: by.name,
        operatorTokenHash: hashOperatorToken(pepper, by),
        createdAt,
        expiresAt,
      });
      return { token, expiresAt };
    },
    async find(token) {
      const hashes = hashesUnder(peppers, (one) => hashOperatorSession(one, token));
      const found = await findOperatorSession(database, hashes, clock());
      const operator = found === null ? undefined : holders.get(found.operatorTokenHash.toString('hex'));
      if (found === null || operator === undefined) return null;
      const { tokenHash, expiresAt } = found;
      return { operator, session: { tokenHash, expiresAt } };
    },
    end: ({ tokenHash }) => deleteOperatorSession(database, tokenHash),
  };
}
