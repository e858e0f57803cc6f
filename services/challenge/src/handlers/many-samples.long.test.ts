import { ChallengeStatus } from '@laurel/proto/challenge';
import { ok } from '@laurel/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { created, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

const SAMPLES = 10_000_000;
const PLAYERS = 500_000;
const STEP = 200_000;

const INSERT = {
  text: `
insert into bar_samples (challenge_id, sample_id, player, score)
select $1, ('00000000-0000-8000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'account:' || i % $4, hashint8(i) / 1000.0
from generate_series($2::bigint, $3::bigint) as i`,
};

describe('x', () => {
  let id: string;
  beforeAll(async () => {
    const c = await h.open(
      { minCalibrationN: SAMPLES + 1, minCalibrationPlayers: PLAYERS, targetPassRate: 0.5 },
      { status: ChallengeStatus.CALIBRATING },
    );
    id = c.id;
    let t = performance.now();
    for (let from = 1; from <= SAMPLES; from += STEP) {
      await h.database.query(INSERT, [id, from, from + STEP - 1, PLAYERS]);
      if (from % 2_000_000 === 1) console.log(from, performance.now() - t);
    }
    console.log('inserted', performance.now() - t);
    await h.database.query(
      { text: "insert into calibration_players select $1, 'account:' || i, $2, 100 from generate_series(0, $3 - 1) i" },
      [id, SAMPLES / PLAYERS, PLAYERS],
    );
    await h.database.query({ text: 'insert into calibrations values ($1, $2, $3)' }, [id, SAMPLES, PLAYERS]);
    const X = async (label: string, text: string) => {
      t = performance.now();
      const rows = await h.database
        .query<object>({ text: `explain (analyze, buffers) ${text}` })
        .catch((e) => [{ e: String(e) }]);
      console.log(label, Math.round(performance.now() - t), rows.map((r) => Object.values(r)[0]).join('\n'));
    };
    await X(
      'before vacuum 0.2',
      `select score from bar_samples where challenge_id = '${id}' order by score offset 2000000 limit 1`,
    );
    t = performance.now();
    await h.database.query({ text: 'vacuum (analyze) bar_samples' });
    console.log('vacuum', performance.now() - t);
    for (const n of [2_000_000, 5_000_000, 5_000_000])
      await X(
        `from ${n}`,
        `select score from bar_samples where challenge_id = '${id}' order by score offset ${n} limit 1`,
      );
    await X(
      'desc',
      `select score from bar_samples where challenge_id = '${id}' order by score desc offset 5000000 limit 1`,
    );
    await X('count', `select count(*) from bar_samples where challenge_id = '${id}'`);
    await X(
      'hist',
      `select width_bucket(score, array(select (i - 25) * 80000.0 from generate_series(0,49) i)::float8[]) as bin, count(*) from bar_samples where challenge_id = '${id}' group by bin`,
    );
  });
  it('y', async () => {
    const player = await h.player();
    const attempt = created(await h.create(id, player.ref));
    const rss = process.memoryUsage().rss;
    const t = performance.now();
    const o = recorded(await h.report(attempt.id, 5));
    console.log('completed', performance.now() - t, process.memoryUsage().rss - rss);
    expect(o.metThreshold).toBe(false);
    expect(ok(await h.challenge.getChallenge({ challengeId: id })).challenge?.status).toBe(ChallengeStatus.LIVE);
    const t2 = performance.now();
    const answer = ok(await h.challenge.getCalibration({ challengeId: id }));
    console.log(
      'read',
      performance.now() - t2,
      process.memoryUsage().rss - rss,
      answer.histogram.length,
      answer.quantiles,
      answer.barInterval,
    );
  });
});
