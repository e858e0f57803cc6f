/** The tournament service. Its two hot calls go through `hot-calls.ts`; the others go one by one. */
import { createClient } from '@laurel/grpc';
import { TournamentServiceClient } from '@laurel/proto/tournament';

export function connectTournament(address: string) {
  return createClient(TournamentServiceClient, {
    name: 'tournament',
    address,
    hot: ['createAttempts', 'reportOutcomes'],
  });
}

/** One method per RPC. */
export type TournamentClient = ReturnType<typeof connectTournament>;
