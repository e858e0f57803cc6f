/**
 * The client of the challenge service. Hot calls are batched (hot-calls.ts); the others are single
 * calls.
 */
import { type Channels, createClient, joinServices } from '@laurel/grpc';
import { AttemptServiceClient } from '@laurel/proto/attempts';
import { ChallengeServiceClient } from '@laurel/proto/challenge';

export function connectChallenge(address: string, { identity, inProcess }: Channels) {
  return createClient(joinServices(ChallengeServiceClient, AttemptServiceClient), {
    name: 'challenge',
    address,
    identity,
    inProcess,
    hot: ['createAttempts', 'reportOutcomes', 'findOpenAttempts'],
  });
}

/** The client has one method per RPC. */
export type ChallengeClient = ReturnType<typeof connectChallenge>;
