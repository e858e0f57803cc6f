/**
 * The client of the tournament service. Hot calls are batched (hot-calls.ts); the others are single
 * calls.
 */
import { type Channels, createClient, joinServices } from '@laurel/grpc';
import { AttemptServiceClient } from '@laurel/proto/attempts';
import { TournamentServiceClient } from '@laurel/proto/tournament';

export function connectTournament(address: string, { identity, inProcess }: Channels) {
  return createClient(joinServices(TournamentServiceClient, AttemptServiceClient), {
    name: 'tournament',
    address,
    identity,
    inProcess,
    hot: ['createAttempts', 'reportOutcomes', 'findOpenAttempts'],
  });
}

/** The client has one method per RPC. */
export type TournamentClient = ReturnType<typeof connectTournament>;
