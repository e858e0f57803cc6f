/**
 * Which service owns an attempt or an award. The tag in the id names it (libs/values/src/ids.ts),
 * so no look-up is needed.
 */
import type { TypedClient } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { contestServiceOf } from '@laurel/values/ids';
import type { ChallengeClient } from './challenge.ts';
import type { TournamentClient } from './tournament.ts';

export interface OwningServices {
  readonly challenge: ChallengeClient;
  readonly tournament: TournamentClient;
}

/** Returns the service that owns an id, or null for an id that names no service. */
export function serviceOf(services: OwningServices, id: string): TypedClient<AttemptServiceService> | null {
  const owner = contestServiceOf(id);
  return owner === null ? null : services[owner];
}
