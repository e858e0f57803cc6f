/**
 * Forwards listened samples to the challenge service, which calibrates with those that count. A
 * partner gets the response once its samples are committed here. Each sample then reaches the
 * challenge service at least once, and counts once, because its id derives from its report.
 *
 * 1. Read samples that were not forwarded, oldest first. A crash leaves them waiting.
 * 2. RecordListenedScores. A crash leaves them waiting, recorded or not: they are sent again, and
 *    the same ids change nothing.
 * 3. Commit `forwarded_at`, not durably. Nothing is owed any more; a lost commit leads to step 2.
 *
 * Two replicas may forward the same samples; the second one changes nothing.
 */
import type { ChallengeClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ListenedScore } from '@laurel/proto/challenge';
import { hashId } from '@laurel/values/ids';
import { failpoint } from '../failpoints.ts';
import { type ListenedSample, loadWaitingSamples, markForwarded } from '../repository/listened-samples.ts';

/** The most samples that one call of the challenge service takes. */
const SAMPLES_A_CALL = 200;

export type ForwardingDeps = {
  readonly database: Database;
  readonly challenge: Pick<ChallengeClient, 'recordListenedScores'>;
};

/**
 * Resolves once no sample waits. Rejects if the challenge service or the database is unreachable;
 * the next run continues.
 */
export function createForwardListenedSamples({ database, challenge }: ForwardingDeps): (now: Date) => Promise<void> {
  return async function runOnce(now) {
    let samples: readonly ListenedSample[];
    do {
      samples = await loadWaitingSamples(database, SAMPLES_A_CALL);
      if (samples.length === 0) return;
      await failpoint('integration.forward.before-call');
      const answer = await challenge.recordListenedScores({ scores: samples.map(presentScore) });
      if (isRefused(answer)) throw new Error(`the challenge service refuses listened samples: ${answer.message}`);
      await failpoint('integration.forward.after-call');
      await markForwarded(database, samples, now);
    } while (samples.length === SAMPLES_A_CALL);
  };
}

function presentScore({
  integrationId,
  reportHash,
  tenant,
  challengeId,
  playerRef,
  score,
}: ListenedSample): ListenedScore {
  return {
    sampleId: hashId('listened', integrationId, reportHash.toString('hex')),
    tenant: presentTenant(tenant),
    challengeId,
    playerRef,
    score,
  };
}
