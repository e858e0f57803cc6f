/**
 * Starts admission: API keys and their rate, idempotency keys, the sign-in of developers, and the
 * tokens and sessions of operators.
 */
import { type Foundation, keysOf } from '@laurel/service';
import { type GatewayConfig, operatorsOf } from '../config.ts';
import { peppersOf } from '../domain/peppers.ts';
import { createIdempotency } from '../idempotency/idempotency.ts';
import { createAdmission } from './admission.ts';
import { createSignInByLink } from './link-sign-in.ts';
import { createOperatorSessions } from './operator-sessions.ts';
import { createOperatorTokens } from './operator-tokens.ts';
import { createSignIn } from './sign-in.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export function startAdmission(config: GatewayConfig, { database, clock, logger, started }: Foundation) {
  const keys = keysOf(config, 'KEY_PEPPER');
  const peppers = peppersOf(keys.current, keys.accepted);
  const idempotency = started.use(
    createIdempotency({
      database,
      clock,
      logger,
      takeoverMs: config.IDEMPOTENCY_TAKEOVER_SECONDS * SECOND_MS,
    }),
  );
  const admission = started.use(
    createAdmission({
      database,
      idempotency,
      peppers,
      acceptedEnvironments: config.ACCEPTED_ENVIRONMENTS,
      limit: config.RATE_LIMIT_PER_MINUTE,
      clock,
      logger,
    }),
  );
  const signInWindowMs = config.PORTAL_SIGN_IN_WINDOW_MINUTES * MINUTE_MS;
  const signingIn = {
    database,
    peppers,
    limits: {
      failuresPerPair: config.PORTAL_SIGN_IN_FAILURES,
      failuresPerEmail: config.PORTAL_SIGN_IN_FAILURES_PER_EMAIL,
      failuresPerAddress: config.PORTAL_SIGN_IN_FAILURES_PER_ADDRESS,
      windowMs: signInWindowMs,
      firstDelayMs: config.PORTAL_SIGN_IN_FIRST_DELAY_SECONDS * SECOND_MS,
      maxDelayMs: config.PORTAL_SIGN_IN_MAX_DELAY_SECONDS * SECOND_MS,
    },
    sessionMs: config.PORTAL_SESSION_HOURS * HOUR_MS,
    clock,
  };
  const signIn = started.use(createSignIn(signingIn));
  const signInByLink = createSignInByLink(signingIn);
  const tokens = operatorsOf(config);
  const operatorTokens = createOperatorTokens(tokens, clock);
  const operatorSessions = createOperatorSessions({ database, peppers, tokens, clock });
  return {
    peppers,
    idempotency,
    admission,
    signIn,
    signInByLink,
    signInWindowMs,
    operatorTokens,
    operatorSessions,
  };
}
