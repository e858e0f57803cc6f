/**
 * The limits of requests, failures, pushes and bodies, and how the client's address is found,
 * because some limits count by it.
 */
import type { Foundation } from '@laurel/service';
import { createByteBudgets } from '@laurel/values/tenant';
import type { Request } from 'express';
import { createBodyBudget } from './admission/body-budget.ts';
import { createPushLimits } from './admission/push-limits.ts';
import { createRateWindows, limitFailures } from './admission/rate-limit.ts';
import type { GatewayConfig } from './config.ts';
import { clientAddressOf, trustedProxiesOf } from './domain/client-address.ts';
import { createBodyReader } from './http/raw-body.ts';
import { DRY_RUN_BYTES_PER_SECOND } from './routes/portal/integrations.ts';
import { holdersOfPushedBody } from './routes/push-outcome.ts';

export function startLimits(config: GatewayConfig, { database, logger, started }: Foundation) {
  const rateWindows = started.use(createRateWindows({ database, pepper: config.KEY_PEPPER, logger }));
  const isProxy = trustedProxiesOf(config.TRUSTED_PROXIES);
  const addressOf = ({ socket, headers }: Request) => {
    const forwardedFor = headers['x-forwarded-for'];
    return clientAddressOf(
      socket.remoteAddress ?? '',
      typeof forwardedFor === 'string' ? forwardedFor : undefined,
      isProxy,
    );
  };
  return {
    rateWindows,
    isProxy,
    addressOf,
    limitFailures: limitFailures({ limit: config.API_FAILURES_PER_MINUTE, addressOf }),
    bodies: createBodyReader(createBodyBudget(config.MAX_BODY_KIB_IN_FLIGHT)),
    pushBodies: createBodyReader(createBodyBudget(config.MAX_PUSH_KIB_IN_FLIGHT, holdersOfPushedBody)),
    pushLimits: createPushLimits({
      perIntegration: config.PUSH_RATE_LIMIT_PER_MINUTE,
      perAddress: config.PUSH_ADDRESS_RATE_LIMIT_PER_MINUTE,
      unknownBytesPerSecond: config.PUSH_UNKNOWN_KIB_PER_SECOND,
      bytesPerSecond: { live: config.PUSH_LIVE_KIB_PER_SECOND, test: config.PUSH_TEST_KIB_PER_SECOND },
    }),
    dryRunBudgets: createByteBudgets(DRY_RUN_BYTES_PER_SECOND),
  };
}
