/**
 * Sign-in to the portal by a link that is used once. An unknown, a used and an expired token get
 * the same refusal. An exchange counts as a failed sign-in of its client until its token proves
 * right; the throttle is the one for passwords, with the token in place of the e-mail. So exchanges
 * of one token slow down exchanges of another only from the same client.
 */

import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { networkOf } from '../domain/client-network.ts';
import { hashesUnder, type Peppers } from '../domain/peppers.ts';
import { hashToken, mintToken } from '../domain/session.ts';
import { hashLinkToken } from '../domain/sign-in-link.ts';
import { hashSubject, type SignInLimits } from '../domain/sign-in-throttle.ts';
import { admitSignIn } from '../repository/sign-in-failures.ts';
import { useSignInLink } from '../repository/sign-in-links.ts';
import type { SignInResult } from './sign-in.ts';

export type SignInByLink = (sent: {
  readonly token: string;
  /** The client's address. */
  readonly address: string;
}) => Promise<SignInResult>;

export function createSignInByLink(options: {
  database: Database;
  peppers: Peppers;
  limits: SignInLimits;
  sessionMs: number;
  clock: Clock;
}): SignInByLink {
  const { database, peppers, limits, sessionMs, clock } = options;
  const pepper = peppers.current.bytes;

  return async ({ token: sent, address }) => {
    const attempt = {
      id: newId(),
      emailHash: hashSubject(pepper, 'link', sent),
      addressHash: hashSubject(pepper, 'address', networkOf(address)),
      // No client is known to a link.
      pairHashes: [],
    };
    const decision = await admitSignIn(database, attempt, limits, clock);
    if (decision.kind === 'limited') return decision;

    const token = mintToken();
    const createdAt = clock();
    const session = {
      tokenHash: hashToken(pepper, token),
      createdAt,
      expiresAt: new Date(createdAt.getTime() + sessionMs),
    };
    const linkHashes = hashesUnder(peppers, (one) => hashLinkToken(one, sent));
    const developerId = await useSignInLink(database, linkHashes, session, attempt.id);
    return developerId === null ? { kind: 'wrong' } : { kind: 'signed-in', token, developerId };
  };
}
