/**
 * Reads a bounded number of a challenge's scores, to show their distribution. No index has the
 * attempts of a challenge by time, because such an index would slow every creation. So both
 * statements read the first rows of an index that the service needs anyway. The order of these rows
 * does not depend on scores.
 */

import type { Queryable } from '@laurel/postgres';

/** `isComplete` is true if these are all scores of their kind. */
export type Scores = { readonly scores: readonly number[]; readonly isComplete: boolean };

/** The most samples that are read; each is a short row. */
const MAX_SAMPLES = 10_000;

/**
 * The most attempts that are read. Each attempt and its outcome are rows on two different pages, so
 * more would be slow. A histogram of some twenty bins needs no more.
 */
const MAX_ATTEMPTS = 500;

// Sample ids are sorted by time, so these are the latest samples.
const SELECT_SAMPLES = {
  text: 'select score from bar_samples where challenge_id = $1 order by sample_id desc limit $2',
};

// The attempts of the newest accounts come first. A subquery looks up each score by the attempt's
// id, whatever the planner knows about the tables.
const SELECT_PAID = {
  text: `
select case when a.status = 'settled' and a.threshold is not null
    then (select o.score from outcomes o where o.attempt_id = a.id) end as score
from (
  select id, status, threshold from attempts
  where challenge_id = $1 and account_id is not null
  order by account_id desc, created_at desc limit $2
) a`,
};

// No index has the archived attempts of one challenge. Their ids are above the challenge's id,
// because an id begins with the time of its creation.
const MAY_BE_ARCHIVED = { text: 'select exists (select from archived_attempts where id > $1) as may_be_archived' };

/** Loads the samples from which the bar follows. */
export function loadSampledScores(on: Queryable, challengeId: string, limit = MAX_SAMPLES): Promise<Scores> {
  return load(on, SELECT_SAMPLES, challengeId, limit);
}

/**
 * Loads the scores of settled paid attempts that are not archived. The scores count as incomplete
 * once any attempt that is younger than the challenge is archived.
 */
export async function loadPaidScores(on: Queryable, challengeId: string, limit = MAX_ATTEMPTS): Promise<Scores> {
  const [{ scores, isComplete }, [row]] = await Promise.all([
    load(on, SELECT_PAID, challengeId, limit),
    on.query<{ may_be_archived: boolean }>(MAY_BE_ARCHIVED, [challengeId]),
  ]);
  return { scores, isComplete: isComplete && row?.may_be_archived === false };
}

async function load(on: Queryable, statement: typeof SELECT_PAID, challengeId: string, limit: number): Promise<Scores> {
  // Reads one more row, which shows whether there are more scores.
  const rows = await on.query<{ score: number | null }>(statement, [challengeId, limit + 1]);
  const scores = rows.slice(0, limit).flatMap(({ score }) => (score === null ? [] : [score]));
  return { scores, isComplete: rows.length <= limit };
}
