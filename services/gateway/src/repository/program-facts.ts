/**
 * What the integration service has to know of programs, and how it is handed over: with each change, later where that failed, and again for
 * some minutes after the change, so that a database of that service which loses its last second learns what it lost from here.
 */
import type { Database, Transaction } from '@laurel/postgres';
import { openEnvironmentsOf, type ProgramFacts, type ProgramStatus } from '../domain/program.ts';

/**
 * Hands the facts of a program that changes to the integration service, under the program's lock and before the commit: there is no moment at
 * which a suspended program is stored here and still open there. False where the service could not be reached: the change is made all the
 * same, and `announcePrograms` hands its facts over later. Facts that were handed over with a change that was not committed are overtaken by
 * those of the next one, whose version is greater.
 */
export type AnnounceFacts = (facts: ProgramFacts) => Promise<boolean>;

export const FACTS = 'id, developer_id, status, deletion_scheduled, version';

export type FactsRow = {
  readonly id: string;
  readonly developer_id: string | null;
  readonly status: ProgramStatus;
  readonly deletion_scheduled: boolean;
  readonly version: bigint;
};

export function factsOf(row: FactsRow | undefined): ProgramFacts {
  if (row === undefined) throw new Error('a program vanished inside its own transaction');
  const { id, developer_id: developerId, status, deletion_scheduled: deletionScheduled, version } = row;
  return {
    programId: id,
    developerId,
    openEnvironments: openEnvironmentsOf({ status, deletionScheduled }),
    version,
  };
}

export async function handOver(transaction: Transaction, facts: ProgramFacts, announce: AnnounceFacts): Promise<void> {
  if (await announce(facts)) await transaction.query(MARK_ANNOUNCED, [facts.programId, facts.version]);
}

const MARK_ANNOUNCED = {
  name: 'mark_program_announced',
  text: 'update programs set announced_version = $2 where id = $1',
};

/**
 * A failover of the integration service's database to a standby that lacks the newest commits takes seconds, with an operator some minutes.
 * After a restore, which takes longer, the operator has all programs announced again (docs/operations/lost-second.md, "Announce programs again").
 */
const REPEAT_FOR_SECONDS = 600;

/**
 * Hands over the facts of programs whose last change was not announced, and where `repeats` again those of programs that changed recently;
 * one after the other, ends at the first that cannot be.
 */
export async function announcePrograms(
  database: Database,
  announce: AnnounceFacts,
  { repeats }: { readonly repeats: boolean },
): Promise<void> {
  // No version is in the future.
  const values = [repeats ? REPEAT_FOR_SECONDS : 0];
  const rows = await database.query<FactsRow & { is_announced: boolean }>(LIST_TO_ANNOUNCE, values);
  for (const row of rows) {
    // Without the lock a repetition may be older than a change that has just been handed over, and then changes nothing there.
    const arrived = row.is_announced ? await announce(factsOf(row)) : await announceChange(database, row.id, announce);
    if (!arrived) return;
  }
}

async function announceChange(database: Database, programId: string, announce: AnnounceFacts): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<FactsRow>(LOCK_TO_ANNOUNCE, [programId]);
    // Another replica has announced it.
    if (row === undefined) return true;
    const facts = factsOf(row);
    if (!(await announce(facts))) return false;
    await transaction.query(MARK_ANNOUNCED, [programId, facts.version]);
    return true;
  });
}

/**
 * A version is the time of its change in microseconds, by this database's clock. Of more recent changes than one run takes, the oldest are
 * repeated first: they are the next to leave the time in which they are, so that each has its turn.
 */
const LIST_TO_ANNOUNCE = {
  name: 'list_programs_to_announce',
  text: `
(select ${FACTS}, false as is_announced from programs where announced_version < version order by id limit 100)
union all
(select ${FACTS}, true from programs
where version > (extract(epoch from now()) * 1000000)::bigint - $1::bigint * 1000000 and announced_version >= version
order by version limit 1000)`,
};
const LOCK_TO_ANNOUNCE = {
  name: 'lock_program_to_announce',
  text: `select ${FACTS} from programs where id = $1 and announced_version < version for no key update`,
};
