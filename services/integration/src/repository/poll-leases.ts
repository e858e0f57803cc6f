/**
 * The poller's statements: find what is due, lease it, record a page, and end the poll. A write
 * under a lease requires the lease's number.
 */
import type { Database } from '@laurel/postgres';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { CursorRefusals } from '../domain/cursor-refusal.ts';
import type { PollFailure } from '../domain/poll-failure.ts';
import type { DuePoll } from '../domain/poll-slots.ts';
import { insertLogEntriesWith, type NewLogEntry } from './log-entries.ts';

/** A poll that may begin. No other replica polls the integration until the lease ends. */
export type PollLease = {
  readonly integrationId: string;
  readonly number: bigint;
  readonly tenant: Tenant;
  /** A JSON object as text. */
  readonly descriptorText: string;
  /** Encrypted; null without authentication. */
  readonly pullSecret: Buffer | null;
  /** The origin of every request, and the only one that may get the secret. */
  readonly origin: string;
  readonly cursor: string | null;
  /** How many times in a row the partner has refused the cursor. */
  readonly cursorRefusals: number;
  /** Why the last poll failed; null if it did not. */
  readonly lastFailure: string | null;
  readonly dueAt: Date;
  readonly begunAt: Date;
};

/** The state of a poll after a page. */
export type PollProgress =
  /** Another page follows, under a renewed lease. */
  | { readonly kind: 'continues'; readonly cursor: string; readonly leasedUntil: Date }
  | { readonly kind: 'succeeded'; readonly cursor: string | null }
  /**
   * The cursor stays, unless the partner has refused it too often. The next poll is due at
   * `retryAt` or later.
   */
  | ({ readonly kind: 'failed'; readonly failure: PollFailure; readonly retryAt: Date | null } & CursorRefusals)
  /** This service failed: only the schedule changes. */
  | { readonly kind: 'interrupted' };

type DueRow = { id: string; pull_origin: string; program_id: string; environment: Environment };

type LeasedRow = {
  id: string;
  lease_number: bigint;
  program_id: string;
  environment: Environment;
  descriptor: string;
  pull_secret: Buffer | null;
  pull_origin: string;
  cursor: string | null;
  cursor_refusals: number;
  last_poll_error: string | null;
  next_poll_at: Date;
};

// The integration is due and leased by no replica, and its program is open in the environment.
// `next_poll_at` is null unless the integration is an active pull_poll.
const IS_DUE = `
    i.next_poll_at <= $1 and i.pull_origin is not null and (i.leased_until is null or i.leased_until <= $1)
    and exists (select from programs p where p.id = i.program_id and i.environment = any(p.open_environments))`;

// Limits the polls of each origin and lists live polls first, so that neither one origin nor test
// polls fill the list and hide the other polls.
const FIND_DUE = {
  name: 'polls_find_due',
  text: `
select id, pull_origin, program_id, environment from (
  select i.id, i.pull_origin, i.program_id, i.environment, i.next_poll_at,
    row_number() over (partition by i.environment, i.pull_origin order by i.next_poll_at, i.id) as place
  from integrations i
  where ${IS_DUE}
) due
where place <= $2
order by environment = 'test', next_poll_at, id
limit $3`,
};

const LEASE = {
  name: 'polls_lease',
  text: `
with due as materialized (
  select i.id from integrations i where i.id = any($2::uuid[]) and ${IS_DUE} for no key update of i skip locked
)
update integrations i
set leased_until = $3, lease_number = i.lease_number + 1, last_polled_at = $1
from due
where i.id = due.id
returning i.id, i.lease_number, i.program_id, i.environment, i.descriptor::text as descriptor, i.pull_secret, i.pull_origin, i.cursor,
  i.cursor_refusals, i.last_poll_error, i.next_poll_at`,
};

// While the lease is held, the partner may switch the integration off (then no poll is due next) or
// change its interval. So the next poll is computed from the current row.
const RECORD = {
  name: 'polls_record',
  text: `
update integrations
set cursor = case when $3 in ('continues', 'succeeded') or $9 then $4 else cursor end,
  cursor_refusals = case when $3 = 'interrupted' then cursor_refusals else $8 end,
  leased_until = $5,
  next_poll_at = case
    when $3 = 'continues' or next_poll_at is null then next_poll_at
    else greatest(last_polled_at + make_interval(secs => pull_interval_seconds), $7)
  end,
  consecutive_failures = case $3 when 'succeeded' then 0 when 'failed' then consecutive_failures + 1 else consecutive_failures end,
  last_poll_error = case $3 when 'succeeded' then null when 'failed' then $6 else last_poll_error end
where id = $1 and lease_number = $2 and leased_until is not null
returning next_poll_at is not null
  and exists (select from programs p where p.id = program_id and environment = any(p.open_environments)) as is_open`,
};

/**
 * Integrations that are due: live before test, and within an environment the longest due first. The
 * number is limited for each origin and in total.
 */
export async function findDuePolls(
  database: Database,
  now: Date,
  limits: { readonly perOrigin: number; readonly total: number },
): Promise<readonly DuePoll[]> {
  const values = [now, limits.perOrigin, limits.total];
  const rows = await database.query<DueRow>(FIND_DUE, values);
  return rows.map((row) => ({
    integrationId: row.id,
    origin: row.pull_origin,
    tenant: { programId: row.program_id, environment: row.environment },
  }));
}

/** Leases the polls that are still due. Durable, so no other replica ever gets the same number. */
export async function leasePolls(
  database: Database,
  integrationIds: readonly string[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<readonly PollLease[]> {
  const rows = await database.write<LeasedRow>(LEASE, [now, integrationIds, leasedUntil], { durable: true });
  return rows.map((row) => ({
    integrationId: row.id,
    number: row.lease_number,
    tenant: { programId: row.program_id, environment: row.environment },
    descriptorText: row.descriptor,
    pullSecret: row.pull_secret,
    origin: row.pull_origin,
    cursor: row.cursor,
    cursorRefusals: row.cursor_refusals,
    lastFailure: row.last_poll_error,
    dueAt: row.next_poll_at,
    begunAt: now,
  }));
}

/**
 * Commits the page's log entry and the state of the poll together, not durably: a page whose commit
 * is lost is requested again, and its records are duplicates.
 *
 * - `isLost`: the lease has ended, or the partner changed where the poll continues; nothing was
 *   changed.
 * - `isOpen`: the integration may be polled further.
 */
export async function recordPage(
  database: Database,
  { integrationId, number }: Pick<PollLease, 'integrationId' | 'number'>,
  { progress, entry }: { readonly progress: PollProgress; readonly entry: NewLogEntry },
  beforeCommit: () => void | Promise<void>,
): Promise<{ readonly isLost: boolean; readonly isOpen: boolean }> {
  const values = [integrationId, number, progress.kind, ...columnsOf(progress)];
  return await database.transaction(
    async (tx) => {
      const [row] = await tx.query<{ is_open: boolean }>(RECORD, values);
      if (row === undefined) return { isLost: true, isOpen: false };
      await tx.commitWith((last) => insertLogEntriesWith(last, [entry]));
      return { isLost: false, isOpen: row.is_open };
    },
    { durable: false, beforeCommit },
  );
}

/**
 * In this order: cursor, end of the lease, failure, earliest next poll, refusals of the cursor,
 * whether the cursor is dropped.
 */
function columnsOf(
  progress: PollProgress,
): readonly [string | null, Date | null, string | null, Date | null, number, boolean] {
  switch (progress.kind) {
    case 'continues':
      return [progress.cursor, progress.leasedUntil, null, null, 0, false];
    case 'succeeded':
      return [progress.cursor, null, null, null, 0, false];
    case 'failed':
      return [null, null, progress.failure, progress.retryAt, progress.refusals, progress.isDropped];
    case 'interrupted':
      return [null, null, null, null, 0, false];
  }
}
