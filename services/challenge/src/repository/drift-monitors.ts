/**
 * The drift monitor of each challenge that has its own bar, and its readings. Only the transaction
 * that holds a monitor's row counts outcomes for it (unmonitored-outcomes.ts) and moves the status
 * of its challenge.
 */

import type { Environment } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { ChallengeStatus } from '../domain/challenge.ts';
import type { DriftMonitor, DriftReading, MonitoredChallenge } from '../domain/monitor-decision.ts';

type MonitorRow = { challenge_id: string; started_at: Date; attempts: bigint; passes: bigint; counts_after: bigint };
type ChallengeRow = {
  id: string;
  program_id: string;
  environment: Environment;
  status: ChallengeStatus;
  has_ramp: boolean;
  ramp_completed_at: Date | null;
  name: string;
  target_pass_rate: number;
  prize_cents: bigint;
  integrity_tier: number;
};
type ReadingRow = { attempts: bigint; passes: bigint; log_ratio_above: number; log_ratio_below: number; read_at: Date };

const START = {
  name: 'drift_monitors_start',
  text: 'insert into drift_monitors (challenge_id, started_at, attempts, passes) values ($1, $2, 0, 0)',
};

const LOCK_FREE = {
  name: 'drift_monitors_lock_free',
  text: `
select challenge_id, started_at, attempts, passes, counts_after from drift_monitors
where challenge_id = any($1::uuid[]) order by challenge_id for no key update skip locked`,
};

const SELECT_CHALLENGES = {
  name: 'challenges_monitored',
  text: `
select id, program_id, environment, status, ramped_from is not null as has_ramp, ramp_completed_at, name, target_pass_rate, prize_cents,
  integrity_tier
from challenges where id = any($1::uuid[])`,
};

const LOCK = { text: 'select from drift_monitors where challenge_id = $1 for no key update' };

const SELECT = {
  text: 'select challenge_id, started_at, attempts, passes, counts_after from drift_monitors where challenge_id = $1',
};

const UPDATE = {
  name: 'drift_monitors_update',
  text: `
update drift_monitors m set attempts = f.attempts, passes = f.passes
from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as f (challenge_id, attempts, passes)
where m.challenge_id = f.challenge_id`,
};

// The instant of a start is part of the keys of the readings since that start, so each start needs
// a different instant. `counts_after` excludes the outcomes that wait now, which were settled
// before the start.
const RESTART = {
  text: `
update drift_monitors set started_at = greatest($2, started_at + interval '1 millisecond'), attempts = 0, passes = 0,
  counts_after = greatest(counts_after, (select max(id) from unmonitored_outcomes))
where challenge_id = $1`,
};

const INSERT_READINGS = {
  name: 'drift_readings_insert',
  text: `
insert into drift_readings (challenge_id, started_at, attempts, passes, log_ratio_above, log_ratio_below, read_at)
select r.*, $7::timestamptz
from unnest($1::uuid[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[])
  as r (challenge_id, started_at, attempts, passes, log_ratio_above, log_ratio_below)
order by r.challenge_id`,
};

const SELECT_READINGS = {
  text: `
select attempts, passes, log_ratio_above, log_ratio_below, read_at
from drift_readings where challenge_id = $1 and started_at = $2 order by attempts`,
};

/** Starts the monitor of a challenge that goes live in this transaction. */
export async function startMonitor(on: Queryable, challengeId: string, now: Date): Promise<void> {
  await on.query(START, [challengeId, now]);
}

/**
 * Makes the monitor count from zero again, and ignore outcomes that wait now. The caller holds the
 * lock on the monitor's row.
 */
export async function restartMonitor(on: Queryable, challengeId: string, now: Date): Promise<void> {
  await on.query(RESTART, [challengeId, now]);
}

/** Locks the given monitors that no other transaction holds, and returns them. */
export async function lockAvailableMonitors(
  on: Queryable,
  challengeIds: readonly string[],
): Promise<readonly DriftMonitor[]> {
  return (await on.query<MonitorRow>(LOCK_FREE, [challengeIds])).map(toMonitor);
}

/**
 * Loads the challenges of monitors, by id. The caller holds the locks on the monitors, so the
 * status of these challenges does not change.
 */
export async function loadMonitoredChallenges(
  on: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MonitoredChallenge>> {
  const rows = await on.query<ChallengeRow>(SELECT_CHALLENGES, [ids]);
  return new Map(rows.map((row) => [row.id, toMonitoredChallenge(row)]));
}

/** Locks the monitor until the transaction ends. False if the challenge has no monitor. */
export async function lockMonitor(on: Queryable, challengeId: string): Promise<boolean> {
  return (await on.query(LOCK, [challengeId])).length === 1;
}

/** Finds the monitor of a challenge; null if the challenge has none. */
export async function findMonitor(on: Queryable, challengeId: string): Promise<DriftMonitor | null> {
  const [row] = await on.query<MonitorRow>(SELECT, [challengeId]);
  return row === undefined ? null : toMonitor(row);
}

/** The caller holds the locks on the monitors' rows. */
export async function updateMonitors(on: Queryable, monitors: readonly DriftMonitor[]): Promise<void> {
  if (monitors.length === 0) return;
  await on.query(UPDATE, [
    monitors.map(({ challengeId }) => challengeId),
    monitors.map(({ state }) => state.attempts),
    monitors.map(({ state }) => state.passes),
  ]);
}

/** At most one reading per monitor. */
export async function insertReadings(
  on: Queryable,
  readings: readonly (DriftReading & Pick<DriftMonitor, 'challengeId' | 'startedAt'>)[],
  now: Date,
): Promise<void> {
  if (readings.length === 0) return;
  await on.query(INSERT_READINGS, [
    readings.map(({ challengeId }) => challengeId),
    readings.map(({ startedAt }) => startedAt),
    readings.map(({ attempts }) => attempts),
    readings.map(({ passes }) => passes),
    readings.map(({ above }) => above),
    readings.map(({ below }) => below),
    now,
  ]);
}

/** Loads the readings since the monitor started, oldest first. */
export async function loadReadings(
  on: Queryable,
  { challengeId, startedAt }: Pick<DriftMonitor, 'challengeId' | 'startedAt'>,
): Promise<readonly (DriftReading & { readonly readAt: Date })[]> {
  const rows = await on.query<ReadingRow>(SELECT_READINGS, [challengeId, startedAt]);
  return rows.map((row) => ({
    attempts: Number(row.attempts),
    passes: Number(row.passes),
    above: row.log_ratio_above,
    below: row.log_ratio_below,
    readAt: row.read_at,
  }));
}

function toMonitor(row: MonitorRow): DriftMonitor {
  const state = { attempts: Number(row.attempts), passes: Number(row.passes) };
  return { challengeId: row.challenge_id, startedAt: row.started_at, countsAfter: row.counts_after, state };
}

function toMonitoredChallenge(row: ChallengeRow): MonitoredChallenge {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    status: row.status,
    hasRamp: row.has_ramp,
    rampCompletedAt: row.ramp_completed_at,
    terms: {
      name: row.name,
      targetPassRate: row.target_pass_rate,
      prizeCents: cents(row.prize_cents),
      integrityTier: row.integrity_tier,
    },
  };
}
