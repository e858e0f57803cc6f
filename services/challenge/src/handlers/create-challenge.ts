/**
 * CreateChallenge: an operator opens a challenge, calibrating or live. If the challenge gets a bar
 * of its own, the commit that sets the bar also starts the drift monitor.
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import {
  type ChallengeServiceService,
  type ChallengeTerms as ChallengeTermsMessage,
  PrizeStructure,
} from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, findName, PRIZE_STRUCTURES, THRESHOLD_DIRECTIONS } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import { isUuid, newId } from '@laurel/values/ids';
import { DEFAULT_DAILY_ATTEMPT_CAP, DEFAULT_MIN_CALIBRATION_PLAYERS, MAX_CALIBRATION_N } from '@laurel/values/limits';
import { cents } from '@laurel/values/money';
import type { Challenge, ChallengeTerms } from '../domain/challenge.ts';
import {
  issueOfDerivedBar,
  issuesOfNewChallenge,
  type NewChallenge,
  parentOfDerivedRung,
  rungOf,
} from '../domain/challenge-terms.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge, insertChallenge } from '../repository/challenges.ts';
import { startMonitor } from '../repository/drift-monitors.ts';
import { deriveBar } from './derive-bar.ts';
import { presentChallenge } from './present.ts';

/**
 * The default number of scores (docs/contract/rules.md, "Challenges"): a bar from so many scores is
 * seldom outside the band of the drift monitor.
 */
const defaultMinCalibrationN = (targetPassRate: number) =>
  Math.min(Math.max(200, Math.ceil(40 / targetPassRate)), MAX_CALIBRATION_N);

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };

export function createChallenge({
  database,
  ceilings,
  clock,
}: Deps): Handlers<ChallengeServiceService>['createChallenge'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const terms = request.terms === undefined ? null : parseTerms(request.terms);
    if (terms === null)
      return refused('invalid_request', 'prize_structure, threshold_direction or parent_challenge_id is not valid.');
    const status = request.status === CHALLENGE_STATUSES.live ? 'live' : 'calibrating';
    const threshold = request.threshold ?? null;
    const parent = terms.parentChallengeId === null ? null : await findChallenge(database, terms.parentChallengeId);

    const wanted = { tenant, terms, status, threshold, parent } as const;
    const [issue] = issuesOfNewChallenge(wanted);
    if (issue !== undefined) return refused('invalid_request', `${issue}.`);
    const bar = await barOfNewChallenge(wanted, database);
    if (isRefused(bar)) return bar;

    const createdAt = clock();
    const challenge: Challenge = {
      id: newId(createdAt),
      tenant,
      terms,
      // A top_n challenge reads as calibrating until it has n scores (current-bar.ts).
      status: terms.prizeStructure === 'top_n' ? 'live' : status,
      ...bar,
      rung: rungOf(parent),
      createdAt,
      // The same value as the database sets when it inserts the row.
      hasRamp: bar.calibrationSource === 'rung_derived',
      rampCompletedAt: null,
      attemptsSeen: 0,
      unconfirmedAttempts: null,
      nthBestScore: null,
      collected: 0,
      playersCollected: 0,
    };
    await database.transaction((tx) =>
      tx.commitWith((last) =>
        Promise.all([
          insertChallenge(last, challenge),
          challenge.threshold === null ? undefined : startMonitor(last, challenge.id, createdAt),
        ]),
      ),
    );
    return { challenge: presentChallenge(challenge, ceilings) };
  };
}

async function barOfNewChallenge(
  wanted: NewChallenge,
  database: Database,
): Promise<Pick<Challenge, 'threshold' | 'calibrationSource'> | Refused> {
  const parent = parentOfDerivedRung(wanted);
  if (parent === null) return { threshold: wanted.threshold, calibrationSource: 'observed' };
  const threshold = await deriveBar(database, { parent, terms: wanted.terms });
  const issue = issueOfDerivedBar(threshold, wanted.terms);
  return issue === null ? { threshold, calibrationSource: 'rung_derived' } : refused('invalid_request', `${issue}.`);
}

function parseTerms(terms: ChallengeTermsMessage): ChallengeTerms | null {
  const { parentChallengeId } = terms;
  const direction = findName(THRESHOLD_DIRECTIONS, terms.thresholdDirection) ?? null;
  const prizeStructure = parsePrizeStructure(terms.prizeStructure);
  if (direction === null || prizeStructure === null) return null;
  if (parentChallengeId !== '' && !isUuid(parentChallengeId)) return null;
  // A count of 0 selects the default.
  return {
    name: terms.name,
    description: terms.description ?? null,
    feeCents: cents(terms.feeCents),
    prizeCents: cents(terms.prizeCents),
    prizeStructure,
    topN: terms.topN ?? null,
    metricName: terms.metricName,
    metricUnit: terms.metricUnit,
    direction,
    scoreMin: terms.scoreMin ?? null,
    scoreMax: terms.scoreMax ?? null,
    targetPassRate: terms.targetPassRate,
    integrityTier: terms.integrityTier,
    minCalibrationN: terms.minCalibrationN || defaultMinCalibrationN(terms.targetPassRate),
    minCalibrationPlayers: terms.minCalibrationPlayers || DEFAULT_MIN_CALIBRATION_PLAYERS,
    dailyAttemptCap: terms.dailyAttemptCap || DEFAULT_DAILY_ATTEMPT_CAP,
    requiredVerificationLevel: terms.requiredVerificationLevel,
    jurisdictions: terms.jurisdictions,
    parentChallengeId: parentChallengeId === '' ? null : parentChallengeId.toLowerCase(),
  };
}

/** Unspecified means `threshold`. */
function parsePrizeStructure(structure: PrizeStructure): ChallengeTerms['prizeStructure'] | null {
  return structure === PrizeStructure.UNSPECIFIED ? 'threshold' : (findName(PRIZE_STRUCTURES, structure) ?? null);
}
