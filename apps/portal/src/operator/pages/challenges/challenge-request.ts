/** The body of `POST /programs/{id}/challenges` from the form. */
import type { ChallengeRequest } from '../../../api/api-types.ts';
import { numberOf, type TypedBody, textOf } from '../../../kit/form-values.ts';

export function challengeRequestOf(form: FormData): TypedBody<ChallengeRequest> {
  return {
    environment: textOf(form, 'environment'),
    name: textOf(form, 'name'),
    description: textOf(form, 'description'),
    fee: textOf(form, 'fee'),
    prize: textOf(form, 'prize'),
    prize_structure: textOf(form, 'prize_structure'),
    top_n: numberOf(form, 'top_n'),
    metric_name: textOf(form, 'metric_name'),
    metric_unit: textOf(form, 'metric_unit'),
    threshold_direction: textOf(form, 'threshold_direction'),
    score_min: numberOf(form, 'score_min'),
    score_max: numberOf(form, 'score_max'),
    target_pass_rate: numberOf(form, 'target_pass_rate'),
    integrity_tier: numberOf(form, 'integrity_tier'),
    min_calibration_n: numberOf(form, 'min_calibration_n'),
    min_calibration_players: numberOf(form, 'min_calibration_players'),
    daily_attempt_cap: numberOf(form, 'daily_attempt_cap'),
    required_verification_level: numberOf(form, 'required_verification_level'),
    jurisdictions: textOf(form, 'jurisdictions')
      ?.split(/[\s,;]+/)
      .filter((code) => code !== ''),
    parent_challenge_id: textOf(form, 'parent_challenge_id'),
    status: textOf(form, 'status'),
    threshold: numberOf(form, 'threshold'),
  };
}
