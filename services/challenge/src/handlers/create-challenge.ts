/** CreateChallenge: an operator opens a challenge. */
import { refused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import { isUuid, newId } from '@laurel/ids';
import { cents } from '@laurel/money';
import type { Database } from '@laurel/postgres';
import {
  type ChallengeServiceService,
  type ChallengeTerms as ChallengeTermsMessage,
  PrizeStructure,
} from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, findName, PRIZE_STRUCTURES, THRESHOLD_DIRECTIONS } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import type { Challenge, ChallengeTerms } from '../domain/challenge.ts';
import { issuesOfNewChallenge, rungOf } from '../domain/challenge-terms.ts';
import { findChallenge, insertChallenge } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

// docs/contract/rules.md, "Challenges". A count of 0 selects the default.
const DEFAULT_MIN_CALIBRATION_N = 200;
const DEFAULT_MIN_CALIBRATION_PLAYERS = 20;
const DEFAULT_DAILY_ATTEMPT_CAP = 10;

export function createChallenge(deps: {
  database: Database;
  clock: Clock;
}): Handlers<ChallengeServiceService>['createChallenge'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const terms = request.terms === undefined ? null : parseTerms(request.terms);
    if (terms === null)
      return refused('invalid_request', 'prize_structure, threshold_direction or parent_challenge_id is not valid.');
    const status = request.status === CHALLENGE_STATUSES.live ? 'live' : 'calibrating';
    const threshold = request.threshold ?? null;
    const parent =
      terms.parentChallengeId === null ? null : await findChallenge(deps.database, terms.parentChallengeId);

    const [issue] = issuesOfNewChallenge({ tenant, terms, status, threshold, parent });
    if (issue !== undefined) return refused('invalid_request', `${issue}.`);

    const createdAt = deps.clock();
    const challenge: Challenge = {
      id: newId(createdAt),
      tenant,
      terms,
      // Whether a top_n challenge is live follows from its scores.
      status: terms.prizeStructure === 'top_n' ? 'live' : status,
      threshold,
      calibrationSource: 'observed',
      rung: rungOf(parent),
      createdAt,
      rampCompletedAt: null,
      attemptsSeen: 0,
      nthBestScore: null,
      collected: 0,
      playersCollected: 0,
    };
    await insertChallenge(deps.database, challenge);
    return { challenge: presentChallenge(challenge) };
  };
}

function parseTerms(terms: ChallengeTermsMessage): ChallengeTerms | null {
  const { parentChallengeId } = terms;
  const direction = findName(THRESHOLD_DIRECTIONS, terms.thresholdDirection) ?? null;
  const prizeStructure = parsePrizeStructure(terms.prizeStructure);
  if (direction === null || prizeStructure === null) return null;
  if (parentChallengeId !== '' && !isUuid(parentChallengeId)) return null;
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
    minCalibrationN: terms.minCalibrationN || DEFAULT_MIN_CALIBRATION_N,
    minCalibrationPlayers: terms.minCalibrationPlayers || DEFAULT_MIN_CALIBRATION_PLAYERS,
    dailyAttemptCap: terms.dailyAttemptCap || DEFAULT_DAILY_ATTEMPT_CAP,
    requiredVerificationLevel: terms.requiredVerificationLevel,
    jurisdictions: terms.jurisdictions,
    parentChallengeId: parentChallengeId === '' ? null : parentChallengeId.toLowerCase(),
  };
}

/** Unspecified means the ordinary structure. */
function parsePrizeStructure(structure: PrizeStructure): ChallengeTerms['prizeStructure'] | null {
  return structure === PrizeStructure.UNSPECIFIED ? 'threshold' : (findName(PRIZE_STRUCTURES, structure) ?? null);
}
