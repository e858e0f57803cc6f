/**
 * RecordListenedScores: scores that reached an integration and that no attempt stands behind count as samples of calibrating challenges. A
 * player is the account that the wallet finds for the ref, as for an attempt. Challenges of another tenant are left out first, so that a
 * sample of them looks like one of no challenge. The commit is record-samples.ts.
 */
import type { Wallet } from '@laurel/attempt-lifecycle';
import { isSameTenant, type Tenant } from '@laurel/attempt-lifecycle/domain';
import { type Handlers, parseId, parseItems, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import {
  type ChallengeServiceService,
  type ListenedScore as ListenedScoreMessage,
  ListenedScoreStatus,
} from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import { playerIdentity } from '../domain/challenge.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { failpoint } from '../failpoints.ts';
import { loadChallenges } from '../repository/challenges.ts';
import { recordSamples } from './record-samples.ts';

type Deps = { readonly database: Database; readonly wallet: Wallet; readonly clock: Clock };

type ListenedScore = Omit<BarSample, 'player'> & { readonly tenant: Tenant; readonly playerRef: string };

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

/** The scores of challenges of their tenant whose bar samples may place, with the players who gave them. */
async function samplesOf(scores: readonly ListenedScore[], { database, wallet }: Deps): Promise<readonly BarSample[]> {
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
      const accountId = await wallet.resolvePlayer({ tenant, playerRef });
      return { ...sample, player: playerIdentity(accountId, playerRef) };
    }),
  );
}

async function commit(samples: readonly BarSample[], { database, clock }: Deps): Promise<ReadonlySet<string>> {
  const recorded = await database.transaction(
    (tx) => recordSamples(tx, samples, { source: 'listened', now: clock() }),
    { beforeCommit: () => failpoint('challenge.calibrate.before-commit') },
  );
  await failpoint('challenge.calibrate.after-commit');
  return recorded;
}
