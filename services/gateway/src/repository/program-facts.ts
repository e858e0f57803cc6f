/**
 * The facts of a program that the integration and the webhook service must know, and when the
 * gateway announces them: with each change of the program; later, if that failed; and again for
 * some minutes after the change. So if the database of one service loses its last second, the
 * gateway announces again what that database lost.
 */
import type { Database, Transaction } from '@laurel/postgres';
import { type AnnouncedTo, openEnvironmentsOf, type ProgramFacts, type ProgramStatus } from '../domain/program.ts';

/**
 * Announces a changed program's facts to both services, under the program's lock. If one could not
 * be reached, the change is made nevertheless, and `announcePrograms` announces its facts later.
 */
export type AnnounceFacts = (facts: ProgramFacts) => Promise<AnnouncedTo>;

export const FACTS_COLUMNS = 'id, developer_id, status, deletion_scheduled, version';

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

/**
 * Announces, before the commit, a change of the environments in which the keys of a program work.
 * So a program is never stored as suspended here while the other service still treats it as open.
 * If the change is not committed, the next change, whose version is greater, overwrites its facts.
 */
export async function announceBeforeCommit(
  transaction: Transaction,
  facts: ProgramFacts,
  announce: AnnounceFacts,
): Promise<void> {
  if ((await announce(facts)) === 'all') await transaction.query(MARK_ANNOUNCED, [facts.programId, facts.version]);
}

const MARK_ANNOUNCED = {
  name: 'mark_program_announced',
  text: 'update programs set announced_version = $2 where id = $1',
};

/**
 * How long the facts of a changed program are announced again. If the integration service's
 * database fails over to a standby that lacks the newest commits, that takes seconds, or some
 * minutes with an operator. A restore takes longer: after a restore the operator has all programs
 * announced again (docs/operations/lost-second.md, "Announce programs again").
 */
const REPEAT_FOR_SECONDS = 600;

/**
 * Announces the facts of programs whose last change was not announced; with `repeats`, also those
 * of programs that changed recently. Announces one program after the other, and ends early if no
 * service can be reached.
 */
export async function announcePrograms(
  database: Database,
  announce: AnnounceFacts,
  { repeats }: { readonly repeats: boolean },
): Promise<void> {
  // Zero adds no programs: no version is in the future.
  const values = [repeats ? REPEAT_FOR_SECONDS : 0];
  const rows = await database.query<FactsRow & { is_announced: boolean }>(LIST_TO_ANNOUNCE, values);
  for (const row of rows) {
    // A repetition takes no lock. It may be older than a change that was announced just now; the
    // services then ignore it.
    const announcedTo = row.is_announced
      ? await announce(factsOf(row))
      : await announceChange(database, row.id, announce);
    if (announcedTo === 'none') return;
  }
}

/**
 * Announces the facts of a program whose last change was not announced. A change of the developer
 * is announced here, after its commit. If it were announced before, and the commit then failed, the
 * program's events would go to a developer who does not have the program.
 */
export async function announceChange(
  database: Database,
  programId: string,
  announce: AnnounceFacts,
): Promise<AnnouncedTo> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<FactsRow>(LOCK_TO_ANNOUNCE, [programId]);
    // The facts were announced already, by another replica or before.
    if (row === undefined) return 'all';
    const facts = factsOf(row);
    const announcedTo = await announce(facts);
    if (announcedTo === 'all') await transaction.query(MARK_ANNOUNCED, [programId, facts.version]);
    return announcedTo;
  });
}

/**
 * A program's version is the time of its last change in microseconds, by this database's clock. If
 * more programs changed recently than one run takes, the oldest changes are repeated first, because
 * they are the next to leave the period of repetition.
 */
const LIST_TO_ANNOUNCE = {
  name: 'list_programs_to_announce',
  text: `
(select ${FACTS_COLUMNS}, false as is_announced from programs where announced_version < version order by id limit 100)
union all
(select ${FACTS_COLUMNS}, true from programs
where version > (extract(epoch from now()) * 1000000)::bigint - $1::bigint * 1000000 and announced_version >= version
order by version limit 1000)`,
};
const LOCK_TO_ANNOUNCE = {
  name: 'lock_program_to_announce',
  text: `select ${FACTS_COLUMNS} from programs where id = $1 and announced_version < version for no key update`,
};
