/**
 * RecordListenedScores: scores that an integration received without an attempt count as samples of
 * calibrating challenges. The player is the account that the wallet finds for the ref, as for an
 * attempt; in live the account must be allowed to play for money (domain/sample-player.ts). Scores
 * for another tenant's challenges are dropped first, so that they look like scores for unknown
 * challenges. The commit is record-samples.ts.
 */
import type { Wallet } from '@laurel/attempts';
import { isSameTenant, type Tenant } from '@laurel/attempts/domain';
import { type Handlers, parseId, parseItems, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import {
  type ChallengeServiceService,
  type ListenedScore as ListenedScoreMessage,
  ListenedScoreStatus,
} from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import { recordSamples } from '../commits/record-samples.ts';
import { playerIdentity } from '../domain/challenge.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { requirementOf } from '../domain/requirement.ts';
import { eligiblePlayer } from '../domain/sample-player.ts';
import { failpoint } from '../failpoints.ts';
import { loadRecordedSamples } from '../repository/bar-samples.ts';
import { loadChallenges } from '../repository/challenges.ts';

type Deps = { readonly database: Database; readonly wallet: Wallet; readonly clock: Clock };

type ListenedScore = Omit<BarSample, 'player'> & { readonly tenant: Tenant; readonly playerRef: string };

/** A sample, and the player for whom the sample counts; null if the sample does not count. */
type Given = Omit<BarSample, 'player'> & { readonly player: string | null };

export function recordListenedScores(deps: Deps): Handlers<ChallengeServiceService>['recordListenedScores'] {
  return async (request) => {
    const scores = parseItems(request.scores).map(parseScore);
    const samples = await samplesOf(scores, deps);
    const recorded = samples.length === 0 ? new Set<string>() : await commit(samples, deps);
    return {
      statuses: scores.map(({ sampleId }) =>
        recorded.has(sampleId) ? ListenedScoreStatus.RECORDED : ListenedScoreStatus.NOT_COUNTED,
      ),
    };
  };
}

function parseScore(item: ListenedScoreMessage): ListenedScore {
  if (!Number.isFinite(item.score)) throw new Error('a score is not finite');
  return {
    sampleId: parseId(item.sampleId),
    tenant: parseTenant(item.tenant),
    challengeId: parseId(item.challengeId),
    playerRef: item.playerRef,
    score: item.score,
  };
}

/**
 * Drops scores for other tenants' challenges and for challenges whose bar does not come from
 * samples. Returns the remaining scores as samples, with the players who reached them.
 */
async function samplesOf(scores: readonly ListenedScore[], { database, wallet }: Deps): Promise<readonly Given[]> {
  const challenges = await loadChallenges(
    database,
    scores.map(({ challengeId }) => challengeId),
  );
  const own = scores.filter(({ challengeId, tenant }) => {
    const challenge = challenges.get(challengeId)?.challenge;
    if (challenge === undefined || challenge.terms.prizeStructure === 'top_n') return false;
    return isSameTenant(challenge.tenant, tenant);
  });
  return Promise.all(
    own.map(async ({ tenant, playerRef, ...sample }) => {
      if (tenant.environment === 'live') {
        const terms = challenges.get(sample.challengeId)?.challenge.terms;
        const requirements = terms === undefined ? [] : [requirementOf(terms)];
        const { accountId, codes } = await wallet.checkEligibility({ tenant, playerRef }, requirements);
        return { ...sample, player: eligiblePlayer({ accountId, code: codes[0] ?? null }) };
      }
      const accountId = await wallet.resolvePlayer({ tenant, playerRef });
      return { ...sample, player: playerIdentity(accountId, playerRef) };
    }),
  );
}

/**
 * Returns the ids of the samples that this call or an earlier one recorded. A score that has no
 * eligible account now is looked up, because its account may have been eligible when the score
 * first arrived.
 */
async function commit(samples: readonly Given[], { database, clock }: Deps): Promise<ReadonlySet<string>> {
  const counting = samples.flatMap(({ player, ...sample }) => (player === null ? [] : { ...sample, player }));
  const before = await loadRecordedSamples(
    database,
    samples.filter(({ player }) => player === null),
  );
  if (counting.length === 0) return before;
  const recorded = await database.transaction(
    (tx) => recordSamples(tx, counting, { source: 'listened', now: clock() }),
    { beforeCommit: () => failpoint('challenge.calibrate.before-commit') },
  );
  await failpoint('challenge.calibrate.after-commit');
  return new Set([...before, ...recorded]);
}
