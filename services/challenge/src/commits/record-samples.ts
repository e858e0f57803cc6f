/**
 * Records scores that count towards calibrations, and sets the bar of each challenge whose
 * calibration they complete. It runs in the caller's transaction, which commits outcomes of free
 * attempts, or listened scores. Its steps:
 *
 * 1. It locks the rows of the challenges, by id. Other transactions that record samples of these
 *    challenges, seed them or suspend them wait; creations do not wait.
 * 2. Under these locks it reads the challenges, the samples already recorded and the counts of the
 *    players, and decides which samples count (domain/counted-samples.ts). It sees here if another
 *    process has completed the calibration meanwhile, so a bar is set once.
 * 3. It writes the samples, the players' counts and the progress.
 * 4. If the calibration is complete, it reads the bar: the k-th best sample, which it finds from
 *    the calibration's anchor (domain/rank-anchor.ts). If the calibration is not complete and the
 *    anchor is too far from the bar, it moves the anchor.
 * 5. The challenge gets its bar and the source of the samples that completed it, goes `live`, and
 *    gets its drift monitor and a row of its history.
 *
 * A crash after any step leaves nothing: the caller reports the outcome or the listened score
 * again, and all steps run again. A crash after the commit leaves a live challenge, the samples
 * and, if a free attempt reached the score, its outcome; a repeat of the report finds them and
 * changes nothing. The response follows the commit, so a partner that receives it finds the
 * challenge live.
 */
import type { Transaction } from '@laurel/postgres';
import { fairShareOf, rankOfBar } from '../domain/calibration.ts';
import type { CalibrationSource, Challenge } from '../domain/challenge.ts';
import { type BarSample, type CountedSamples, countSamples } from '../domain/counted-samples.ts';
import { anchorWith, isAnchorDue, type RankAnchor, rankOfKthBest } from '../domain/rank-anchor.ts';
import { insertBarSamples, loadRecordedSamples, loadScoreOfRank } from '../repository/bar-samples.ts';
import {
  loadRankAnchors,
  loadSamplesOfPlayers,
  moveRankAnchor,
  putCalibrationCounts,
  putCalibrationPlayers,
} from '../repository/calibrations.ts';
import { loadChallenges, lockChallenges, setBar } from '../repository/challenges.ts';
import { startMonitor } from '../repository/drift-monitors.ts';
import { insertStatusChange } from '../repository/status-changes.ts';

type Calibration = CountedSamples & { readonly challenge: Challenge; readonly anchor: RankAnchor | null };

/**
 * Records samples of challenges whose `prize_structure` is threshold. Returns the ids of the
 * samples that this call or an earlier one recorded.
 */
export async function recordSamples(
  tx: Transaction,
  samples: readonly BarSample[],
  { source, now }: { readonly source: Extract<CalibrationSource, 'observed' | 'listened'>; readonly now: Date },
): Promise<ReadonlySet<string>> {
  if (samples.length === 0) return new Set();
  const ofChallenges = Map.groupBy(samples, ({ challengeId }) => challengeId);
  const ids = [...ofChallenges.keys()];
  // The statements are sent together and run in this order, so that all reads are under the locks.
  const [, challenges, recorded, samplesOfPlayers, anchors] = await Promise.all([
    lockChallenges(tx, ids),
    loadChallenges(tx, ids),
    loadRecordedSamples(tx, samples),
    loadSamplesOfPlayers(tx, samples),
    loadRankAnchors(tx, ids),
  ]);
  const calibrations = [...ofChallenges].flatMap(([id, ofChallenge]): Calibration[] => {
    const challenge = challenges.get(id)?.challenge;
    if (challenge === undefined) return [];
    const ofPlayers = samplesOfPlayers.get(id) ?? new Map<string, number>();
    const counting = countSamples(ofChallenge, { challenge, recorded, samplesOfPlayers: ofPlayers });
    const before = anchors.get(id);
    const anchor =
      before === undefined
        ? null
        : anchorWith(
            before,
            counting.counted.map(({ score }) => score),
          );
    return [{ challenge, anchor, ...counting }];
  });

  const changed = calibrations.filter(({ counted }) => counted.length > 0);
  if (changed.length > 0) await writeProgress(tx, changed);
  for (const calibration of changed) await approachBar(tx, calibration, { source, now });
  return new Set([...recorded, ...changed.flatMap(({ counted }) => counted.map(({ sampleId }) => sampleId))]);
}

async function writeProgress(tx: Transaction, changed: readonly Calibration[]): Promise<void> {
  const players = changed.flatMap(({ challenge, samplesOfPlayers }) =>
    [...samplesOfPlayers].map(([player, samples]) => {
      return { challengeId: challenge.id, player, samples, fairShare: fairShareOf(challenge.terms) };
    }),
  );
  await Promise.all([
    insertBarSamples(
      tx,
      changed.flatMap(({ counted }) => counted),
    ),
    putCalibrationCounts(
      tx,
      changed.map(({ challenge, ...counts }) => ({ challengeId: challenge.id, ...counts })),
    ),
    putCalibrationPlayers(tx, players),
  ]);
}

/**
 * Gives the challenge its bar if the calibration is complete. Otherwise moves the anchor if it is
 * too far from the bar.
 */
async function approachBar(
  tx: Transaction,
  { challenge, collected: samples, isComplete, anchor }: Calibration,
  cause: { readonly source: CalibrationSource; readonly now: Date },
): Promise<void> {
  const { direction, targetPassRate } = challenge.terms;
  const rank = rankOfKthBest(rankOfBar(samples, targetPassRate), samples, direction);
  if (!isComplete && !isAnchorDue(anchor, rank, samples)) return;
  const score = await loadScoreOfRank(tx, challenge.id, {
    rank,
    sampleCount: samples,
    anchors: anchor === null ? [] : [anchor],
  });
  if (isComplete) await goLive(tx, challenge, { threshold: score, ...cause });
  else await moveRankAnchor(tx, challenge.id, { from: anchor, to: score });
}

async function goLive(
  tx: Transaction,
  { id: challengeId, status }: Challenge,
  { threshold, source, now }: { readonly threshold: number; readonly source: CalibrationSource; readonly now: Date },
): Promise<void> {
  const change = { from: status, to: 'live', cause: 'calibrated', note: null, evidence: null } as const;
  await Promise.all([
    setBar(tx, { challengeId, threshold, source }),
    startMonitor(tx, challengeId, now),
    insertStatusChange(tx, { challengeId, changedAt: now, ...change }),
  ]);
}
