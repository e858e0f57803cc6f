/** A tournament as operators and the program's developer see it. */
import { z } from '../http/zod.ts';
import { component, orNull } from './component.ts';
import { environmentName } from './fields.ts';
import { thresholdDirection } from './v1/challenge-schemas.ts';
import { uuid } from './v1/fields.ts';
import { purse, tournamentSchema } from './v1/tournament-schemas.ts';

/** The partners' list item, and everything that the operator set. */
export const operatorTournamentSchema = component(
  'OperatorTournament',
  tournamentSchema.extend({
    program_id: uuid,
    environment: environmentName,
    tiebreak_metric_name: z.string().nullable(),
    tiebreak_direction: orNull(thresholdDirection),
    ...purse,
    min_entrants: z.int(),
    min_scored_attempts: z.int(),
    round_length_seconds: z.int().nullable(),
  }),
  { description: 'The tournament as partners see it, and everything that the operator set.' },
);
