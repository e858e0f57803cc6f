/** The drift monitor of each challenge that has a bar of its own. */

import type { Queryable } from '@laurel/postgres';

const START = {
  name: 'drift_monitors_start',
  text: 'insert into drift_monitors (challenge_id, started_at, attempts, passes) values ($1, $2, 0, 0)',
};

/** The challenge goes live in this transaction: its monitor has counted nothing yet. */
export async function startMonitor(on: Queryable, challengeId: string, now: Date): Promise<void> {
  await on.query(START, [challengeId, now]);
}
