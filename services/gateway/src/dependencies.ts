/** What every route gets. `server.ts` makes it; nothing else constructs a dependency. */
import { ownerOf } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import type { ChallengeClient } from './clients/challenge.ts';
import type { TournamentClient } from './clients/tournament.ts';
import type { WalletClient } from './clients/wallet.ts';
import type { WebhookClient } from './clients/webhook.ts';
import type { GatewayConfig } from './config.ts';
import type { Admission } from './middleware/admission.ts';
import type { SignIn } from './middleware/sign-in.ts';

export interface Dependencies {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly database: Database;
  readonly wallet: WalletClient;
  readonly challenge: ChallengeClient;
  readonly tournament: TournamentClient;
  readonly webhook: WebhookClient;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly signIn: SignIn;
}

/** The service that owns an attempt or an award, by the tag in its id; null for an id that nobody owns. */
export function serviceOf(
  services: Pick<Dependencies, 'challenge' | 'tournament'>,
  id: string,
): ChallengeClient | TournamentClient | null {
  const owner = ownerOf(id);
  return owner === null ? null : services[owner];
}
