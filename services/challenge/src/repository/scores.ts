/**
 * A bounded part of a challenge's scores, to show how they are distributed. No index holds the
 * attempts of a challenge by their time, and none is added for this: each of them would slow every
 * creation. So both statements read the first rows of an index that the service needs anyway. The
 * order does not depend on scores.
 */

import type { Queryable } from '@laurel/postgres';

/** Whether these are all scores of their kind. */
export type Scores = { readonly scores: readonly number[]; readonly isComplete: boolean };

/** The most samples that are read; each is a short row. */
const MAX_SAMPLES = 10_000;

/**
 * The most attempts that are read. Each attempt is a row on a page of its own, and its score is
 * another. A histogram of some twenty bins needs no more.
 */
const MAX_ATTEMPTS = 500;

// The samples of attempts have time-sorted ids, so that these are the latest.
const SELECT_SAMPLES = {
  text: 'select score from bar_samples where challenge_id = $1 order by sample_id desc limit $2',
};

// The attempts of the newest accounts come first. The score is looked up by the attempt's id,
// whatever the planner knows of the tables.
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

// No index has the archived attempts of one challenge. Their ids are above its own, because all
// begin with the time at which they were made.
const MAY_BE_ARCHIVED = { text: 'select exists (select from archived_attempts where id > $1) as may_be_archived' };

/** The samples from which the bar follows. */
export function loadSampledScores(on: Queryable, challengeId: string, limit = MAX_SAMPLES): Promise<Scores> {
  return load(on, SELECT_SAMPLES, challengeId, limit);
}

/**
 * The scores of settled paid attempts that are not archived. They count as incomplete once any
 * attempt is archived that is younger than the challenge.
 */
export async function loadPaidScores(on: Queryable, challengeId: string, limit = MAX_ATTEMPTS): Promise<Scores> {
  const [{ scores, isComplete }, [row]] = await Promise.all([
    load(on, SELECT_PAID, challengeId, limit),
    on.query<{ may_be_archived: boolean }>(MAY_BE_ARCHIVED, [challengeId]),
  ]);
  return { scores, isComplete: isComplete && row?.may_be_archived === false };
}

async function load(on: Queryable, statement: typeof SELECT_PAID, challengeId: string, limit: number): Promise<Scores> {
  // One row more shows whether there are others.
  const rows = await on.query<{ score: number | null }>(statement, [challengeId, limit + 1]);
  const scores = rows.slice(0, limit).flatMap(({ score }) => (score === null ? [] : [score]));
  return { scores, isComplete: rows.length <= limit };
}
