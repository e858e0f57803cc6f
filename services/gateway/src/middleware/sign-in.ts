/**
 * Signing in to the portal: an e-mail and a password become a session, or one of two refusals that tell nothing.
 *
 * - The throttle is asked first (`domain/sign-in-throttle.ts`), and knows nothing of who exists.
 * - An unknown e-mail costs what a wrong password costs: its password is compared with the hash of one that nobody knows.
 * - Hashing takes a core for some 30 ms and 19 MiB, on threads that the rest of the process needs too: two passwords are looked at at a
 *   time, sign-ins with one e-mail one after the other, and the rest wait their turn or are turned away.
 */
import { randomBytes } from 'node:crypto';
import { createCoalescer } from '@laurel/coalesce';
import { newId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { hashPassword, isPassword } from '../domain/password.ts';
import { hashToken, mintToken } from '../domain/session.ts';
import { hashSubject, networkOf, type SignInDecision, type SignInLimits } from '../domain/sign-in-throttle.ts';
import { findCredentials } from '../repository/developers.ts';
import { insertSession } from '../repository/sessions.ts';
import { admitSignIn } from '../repository/sign-in-failures.ts';

export interface Credentials {
  /** In lower case. */
  readonly email: string;
  readonly password: string;
  /** Of the client's end of the connection. */
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
/** Some seconds of work. */
const MAX_QUEUED = 500;
/** A person has given up by then. */
const DEADLINE_MS = 20_000;

export function createSignIn(options: {
  database: Database;
  pepper: Buffer;
  limits: SignInLimits;
  sessionMs: number;
  clock: Clock;
}): SignIn {
  const { database, pepper, limits, sessionMs, clock } = options;
  const nobodysHash = hashPassword(randomBytes(32).toString('base64'));

  const signIn = async ({ email, password, address }: Credentials): Promise<SignInResult> => {
    const attempt = {
      id: newId(),
      emailHash: hashSubject(pepper, 'email', email),
      addressHash: hashSubject(pepper, 'address', networkOf(address)),
      at: clock(),
    };
    const decision = await admitSignIn(database, attempt, limits);
    if (decision.kind === 'limited') return decision;

    const developer = await findCredentials(database, email);
    const isRight = await isPassword(password, developer?.passwordHash ?? (await nobodysHash));
    if (developer === null || !isRight) return { kind: 'wrong' };

    const token = mintToken();
    const createdAt = clock();
    const expiresAt = new Date(createdAt.getTime() + sessionMs);
    const session = { tokenHash: hashToken(pepper, token), developerId: developer.id, createdAt, expiresAt };
    await insertSession(database, session, attempt.id);
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
      await Promise.all([signIns.drain(), nobodysHash]);
    },
  };
}
