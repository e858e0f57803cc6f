/**
 * Finds the scores from which the bars of a ladder follow. From a given rung down, these are the
 * scores of the first rung whose bar was not derived: the rung's samples if they completed its
 * calibration, or else the percentiles with which the rung was seeded.
 */
import type { Queryable } from '@laurel/postgres';
import type { Distribution } from '../domain/calibration.ts';

type LadderScores =
  | { readonly kind: 'samples'; readonly challengeId: string; readonly samples: number }
  | { readonly kind: 'percentiles'; readonly distribution: Distribution };

// Requires a bar and a source: a calibrating challenge has samples but no bar, and a challenge that
// its operator opened with a bar has no samples.
const SELECT = {
  text: `
with recursive ladder as (
  select c.id, c.parent_challenge_id, c.calibration_source, c.threshold from challenges c where c.id = $1
  union all
  select c.id, c.parent_challenge_id, c.calibration_source, c.threshold
  from ladder l join challenges c on c.id = l.parent_challenge_id
  where l.calibration_source = 'rung_derived'
)
select l.id, k.collected, s.p5, s.p25, s.p50, s.p75, s.p95
from ladder l
left join calibrations k on k.challenge_id = l.id and l.calibration_source in ('observed', 'listened') and k.collected > 0
left join seeded_distributions s on s.challenge_id = l.id
where l.threshold is not null and (k.challenge_id is not null or s.challenge_id is not null)`,
};

type Row = { readonly id: string } & (({ readonly collected: null } & Distribution) | { readonly collected: bigint });

/** Searches from this challenge down its ladder; null if no rung has such scores. */
export async function findLadderScores(on: Queryable, challengeId: string): Promise<LadderScores | null> {
  const [row] = await on.query<Row>(SELECT, [challengeId]);
  if (row === undefined) return null;
  if (row.collected !== null) return { kind: 'samples', challengeId: row.id, samples: Number(row.collected) };
  const { p5, p25, p50, p75, p95 } = row;
  return { kind: 'percentiles', distribution: { p5, p25, p50, p75, p95 } };
}
