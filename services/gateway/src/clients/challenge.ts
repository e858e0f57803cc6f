/** The challenge service. Its two hot calls go through `hot-calls.ts`; the others go one by one. */
import { createClient } from '@laurel/grpc';
import { ChallengeServiceClient } from '@laurel/proto/challenge';

export function connectChallenge(address: string) {
  return createClient(ChallengeServiceClient, {
    name: 'challenge',
    address,
    hot: ['createAttempts', 'reportOutcomes'],
  });
}

/** One method per RPC. */
export type ChallengeClient = ReturnType<typeof connectChallenge>;
