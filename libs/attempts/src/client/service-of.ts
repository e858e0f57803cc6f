/**
 * Finds the contest service of an attempt or an award. The tag in the id names the service
 * (libs/values/src/ids.ts), so no look-up is needed.
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

/** Returns the client of the service that the id names; null for an id that names no service. */
export function serviceOf(services: OwningServices, id: string): TypedClient<AttemptServiceService> | null {
  const contestService = contestServiceOf(id);
  return contestService === null ? null : services[contestService];
}
