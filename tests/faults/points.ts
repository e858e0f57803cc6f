/** The failpoints of every service, from the services' own declarations. */
import * as challenge from '@laurel/challenge/failpoints';
import * as gateway from '@laurel/gateway/failpoints';
import * as integration from '@laurel/integration/failpoints';
import type { ServiceName } from '@laurel/topology';
import * as tournament from '@laurel/tournament/failpoints';
import * as wallet from '@laurel/wallet/failpoints';
import * as webhook from '@laurel/webhook/failpoints';

/** Does not compile without an entry for every service. */
export const FAILPOINTS = {
  gateway: gateway.FAILPOINTS,
  challenge: challenge.FAILPOINTS,
  tournament: tournament.FAILPOINTS,
  wallet: wallet.FAILPOINTS,
  webhook: webhook.FAILPOINTS,
  integration: integration.FAILPOINTS,
} as const satisfies Record<ServiceName, readonly string[]>;

/** The failpoints of these services, or of all. */
export type FailpointName<Service extends ServiceName = ServiceName> = (typeof FAILPOINTS)[Service][number];
