/**
 * Sign-in to the portal: an e-mail and a password become a session, or one of two refusals that
 * reveal nothing.
 *
 * - The throttle decides first (`domain/sign-in-throttle.ts`), and does not depend on which
 *   developers exist.
 * - An unknown e-mail takes as much time as a wrong password: the sent password is compared with a
 *   decoy, the hash of a random password.
 * - Hashing takes a core for some 30 ms and 19 MiB, on threads that the rest of the process needs
 *   too. So only two passwords are checked at a time, and sign-ins with the same e-mail are checked
 *   one after the other. The others wait in a queue, or are refused when it is full.
 */
import { randomBytes } from 'node:crypto';
import { createCoalescer } from '@laurel/coalesce';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { networkOf } from '../domain/client-network.ts';
import { hashPassword, verifyPassword } from '../domain/password.ts';
import { hashesUnder, type Peppers } from '../domain/peppers.ts';
import { hashToken, mintToken } from '../domain/session.ts';
import { hashSubject, type SignInDecision, type SignInLimits } from '../domain/sign-in-throttle.ts';
import { findCredentials } from '../repository/developers.ts';
import { insertSession } from '../repository/sessions.ts';
import { admitSignIn } from '../repository/sign-in-failures.ts';

export interface Credentials {
  /** The e-mail address, in lower case. */
  readonly email: string;
  readonly password: string;
  /** The client's address. */
  readonly address: string;
}

export type SignInResult =
  | { readonly kind: 'signed-in'; readonly token: string; readonly developerId: string }
  | { readonly kind: 'wrong' }
  | Extract<SignInDecision, { kind: 'limited' }>;

export interface SignIn extends AsyncDisposable {
  signIn(credentials: Credentials): Promise<SignInResult>;
}

const PASSWORDS_AT_A_TIME = 2;
/** The most sign-ins that wait: a few seconds of work. */
const MAX_QUEUED = 500;
/** How long a sign-in may wait: after this time a person has given up. */
const DEADLINE_MS = 20_000;

export function createSignIn(options: {
  database: Database;
  peppers: Peppers;
  limits: SignInLimits;
  sessionMs: number;
  clock: Clock;
}): SignIn {
  const { database, peppers, limits, sessionMs, clock } = options;
  const pepper = peppers.current.bytes;
  const decoyHash = hashPassword(randomBytes(32).toString('base64'));

  const signIn = async ({ email, password, address }: Credentials): Promise<SignInResult> => {
    const network = networkOf(address);
    const pair = `${email}\n${network}`;
    const attempt = {
      id: newId(),
      emailHash: hashSubject(pepper, 'email', email),
      addressHash: hashSubject(pepper, 'address', network),
      pairHashes: hashesUnder(peppers, (one) => hashSubject(one, 'pair', pair)),
    };
    const decision = await admitSignIn(database, attempt, limits, clock);
    if (decision.kind === 'limited') return decision;

    const developer = await findCredentials(database, email);
    const isRight = await verifyPassword(password, developer?.passwordHash ?? (await decoyHash));
    if (developer === null || !isRight) return { kind: 'wrong' };

    const token = mintToken();
    const createdAt = clock();
    const expiresAt = new Date(createdAt.getTime() + sessionMs);
    const session = { tokenHash: hashToken(pepper, token), developerId: developer.id, createdAt, expiresAt };
    const pairHash = hashSubject(pepper, 'pair', pair);
    await insertSession(database, session, { failureId: attempt.id, pairHash });
    return { kind: 'signed-in', token, developerId: developer.id };
  };

  const signIns = createCoalescer<Credentials, SignInResult>({
    name: 'gateway.sign_in',
    run: (batch) => Promise.all(batch.map(signIn)),
    maxItems: 1,
    lanes: PASSWORDS_AT_A_TIME,
    maxQueued: MAX_QUEUED,
    keyOf: ({ email }) => email,
    isolate: false,
  });

  return {
    signIn: (credentials) => signIns.submit(credentials, { deadlineAt: Date.now() + DEADLINE_MS }),
    async [Symbol.asyncDispose]() {
      await Promise.all([signIns.drain(), decoyHash]);
    },
  };
}
