/** The body of `POST /programs/{id}/tournaments` from the form. */
import type { TournamentRequest } from '../../../api/api-types.ts';
import { numberOf, type TypedBody, textOf } from '../../../kit/form-values.ts';
import { purseOf, type TypedGroup } from './purse-groups.ts';

export const LENGTH_UNITS = [
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
  { value: '86400', label: 'days' },
] as const;

/** Builds the request. Without a metric there is no tiebreak, whatever its direction. */
export function tournamentRequestOf(form: FormData, purse: readonly TypedGroup[]): TypedBody<TournamentRequest> {
  const tiebreak = textOf(form, 'tiebreak_metric_name');
  const length = numberOf(form, 'round_length_seconds');
  const unitSeconds = Number(textOf(form, 'length_unit'));
  return {
    environment: textOf(form, 'environment'),
    name: textOf(form, 'name'),
    description: textOf(form, 'description'),
    metric_name: textOf(form, 'metric_name'),
    metric_unit: textOf(form, 'metric_unit'),
    threshold_direction: textOf(form, 'threshold_direction'),
    tiebreak_metric_name: tiebreak,
    tiebreak_direction: tiebreak === undefined ? undefined : textOf(form, 'tiebreak_direction'),
    entry_fee: textOf(form, 'entry_fee'),
    attempt_cap: numberOf(form, 'attempt_cap'),
    purse_table: [...purseOf(purse)],
    min_entrants: numberOf(form, 'min_entrants'),
    min_scored_attempts: numberOf(form, 'min_scored_attempts'),
    round_length_seconds: typeof length === 'number' ? Math.round(length * unitSeconds) : length,
  };
}
