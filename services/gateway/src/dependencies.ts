/** What every route gets. `server.ts` makes it; nothing else constructs a dependency. */
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import type { ChallengeClient } from './clients/challenge.ts';
import type { WalletClient } from './clients/wallet.ts';
import type { GatewayConfig } from './config.ts';
import type { Admission } from './middleware/admission.ts';

export interface Dependencies {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly database: Database;
  readonly wallet: WalletClient;
  readonly challenge: ChallengeClient;
  readonly clock: Clock;
  readonly admission: Admission;
}
