/**
 * A calibration of ten million samples. The service's own code records the last 300,000 samples,
 * all above the bar.
 */
import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { created, recorded, useHarness } from '../challenge.fixture.ts';
import { recordSamples } from '../commits/record-samples.ts';
import type { BarSample } from '../domain/counted-samples.ts';

const h = useHarness();

const SAMPLES = 10_000_000;
const PLAYERS = 500_000;
/** How many samples the service's own code records. SQL inserts the samples before these. */
const RECORDED = 300_000;
const BATCH = 10_000;
/** The number of samples in one statement. */
const INSERTED_AT_ONCE = 500_000;
/** The number of concurrent statements. Each keeps a core busy. */
const INSERTING = 2;
const INSERT_TIMEOUT = { statementTimeoutMs: 120_000 };
const MIB = 1024 * 1024;
/** Long enough to build two indexes of ten million rows. */
const SETUP_TIMEOUT_MS = 900_000;

// Scores are scattered, and the same in each run.
const INSERT = {
  text: `
insert into bar_samples (challenge_id, sample_id, player, score)
select $1, ('00000000-0000-8000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'ref:' || i % $4::int, hashint8(i) / 1000.0
from generate_series($2::bigint, $3::bigint) as i`,
};
/** The primary key and the index. They are dropped while SQL inserts rows, and built afterwards. */
const INDEXES = {
  text: `
select c.conname as name, format('alter table bar_samples add constraint %I %s', c.conname, pg_get_constraintdef(c.oid)) as build,
  format('alter table bar_samples drop constraint %I', c.conname) as remove
from pg_constraint c where c.conrelid = 'bar_samples'::regclass and c.contype = 'p'
union all
select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), format('drop index %s', i.indexrelid::regclass)
from pg_index i where i.indrelid = 'bar_samples'::regclass and not i.indisprimary`,
};
/** Inserts each player with the number of samples that INSERT gives it; the audit compares both. */
const INSERT_PLAYERS = {
  text: `
insert into calibration_players (challenge_id, player, samples, fair_share)
select $1, 'ref:' || p, $2::int / $3::int + case when p between 1 and $2::int % $3::int then 1 else 0 end, $4
from generate_series(0, $3::int - 1) as p`,
};
const INSERT_PROGRESS = { text: 'insert into calibrations (challenge_id, collected, players) values ($1, $2, $3)' };

describe('a challenge with ten million samples', () => {
  let id: string;

  beforeAll(async () => {
    // A pass rate of one half, because a bar in the middle is the furthest from both ends of the
    // index.
    const terms = { minCalibrationN: SAMPLES, minCalibrationPlayers: PLAYERS, targetPassRate: 0.5 };
    id = (await h.open(terms, { status: ChallengeStatus.CALIBRATING })).id;
    const before = SAMPLES - RECORDED;
    const starts = Array.from({ length: Math.ceil(before / INSERTED_AT_ONCE) }, (_, index) => index * INSERTED_AT_ONCE);
    const insertNext = async (): Promise<void> => {
      for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
        const values = [id, start + 1, Math.min(start + INSERTED_AT_ONCE, before), PLAYERS];
        await h.database.transaction((tx) => tx.query(INSERT, values), INSERT_TIMEOUT);
      }
    };
    const indexes = await h.database.query<{ name: string; build: string; remove: string }>(INDEXES);
    expect(indexes.map(({ name }) => name).sort()).toEqual(['bar_samples_by_score', 'bar_samples_pkey']);
    for (const { remove } of indexes) await h.database.query({ text: remove });
    await Promise.all(Array.from({ length: INSERTING }, insertNext));
    for (const { build } of indexes) {
      await h.database.transaction(async (tx) => {
        await tx.query({ text: `set local maintenance_work_mem = '512MB'` });
        await tx.query({ text: build });
      }, INSERT_TIMEOUT);
    }
    await h.database.transaction(async (tx) => {
      await tx.query(INSERT_PLAYERS, [id, before, PLAYERS, (2 * SAMPLES) / PLAYERS]);
      await tx.query(INSERT_PROGRESS, [id, before, PLAYERS]);
    }, INSERT_TIMEOUT);
    // Does what autovacuum would do while samples arrive.
    await h.database.query({ text: 'vacuum (analyze) bar_samples' });
    for (let from = 0; from < RECORDED - 1; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, RECORDED - 1 - from) }, (_, index) =>
        sampleOf(id, from + index),
      );
      await h.database.transaction((tx) => recordSamples(tx, batch, { source: 'observed', now: h.clock() }));
    }
  }, SETUP_TIMEOUT_MS);

  it('a challenge with ten million samples goes live within a second of its last sample', async () => {
    const player = await h.player();
    const attempt = created(await h.create(id, player.ref));
    const { rss } = process.memoryUsage();
    const startedAt = performance.now();
    recorded(await h.report(attempt.id, 0));
    const tookMs = performance.now() - startedAt;
    const grewBy = process.memoryUsage().rss - rss;
    process.stdout.write(`live in ${Math.round(tookMs)} ms, ${Math.round(grewBy / MIB)} MiB more\n`);
    expect(tookMs).toBeLessThan(1_000);
    expect(grewBy).toBeLessThan(20 * MIB);
    const { challenge } = expectAccepted(await h.challenge.getChallenge({ challengeId: id }));
    expect(challenge?.status).toBe(ChallengeStatus.LIVE);
    const [median] = await h.database.transaction((tx) => tx.query<{ score: number }>(MEDIAN, [id]), {
      statementTimeoutMs: 60_000,
    });
    expect(challenge?.threshold).toBe(median?.score);
  });

  it('a challenge with ten million samples shows its calibration in bounded memory', async () => {
    const { rss } = process.memoryUsage();
    const startedAt = performance.now();
    const calibration = expectAccepted(await h.challenge.getCalibration({ challengeId: id }));
    const tookMs = performance.now() - startedAt;
    const grewBy = process.memoryUsage().rss - rss;
    process.stdout.write(`calibration read in ${Math.round(tookMs)} ms, ${Math.round(grewBy / MIB)} MiB more\n`);
    expect(grewBy).toBeLessThan(20 * MIB);
    expect(calibration.histogram).toHaveLength(50);
    expect(calibration.histogram.reduce((sum, { samples }) => sum + samples, 0n)).toBe(BigInt(SAMPLES));
    expect(calibration.quantiles).toHaveLength(9);
  });
});

const MEDIAN = {
  text: `select score from bar_samples where challenge_id = $1 order by score desc offset ${SAMPLES / 2 - 1} limit 1`,
};

/**
 * Returns a sample for the service's own code to record. All of these are on one side of the bar,
 * so that the bar moves as far as possible.
 */
function sampleOf(challengeId: string, index: number): BarSample {
  const sampleId = `10000000-0000-8000-8000-${index.toString(16).padStart(12, '0')}`;
  return { challengeId, sampleId, player: `ref:${index % PLAYERS}`, score: 3_000_000 + index };
}
