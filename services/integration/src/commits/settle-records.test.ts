/**
 * Which attempt a report settles, and that it settles only one: on a real database, with contest
 * services in memory that decide as the real ones do. tests/integrations proves the same with the
 * real ones.
 */
import { refused } from '@laurel/errors';
import type { SettledRecord } from '@laurel/proto/integration';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadRecord } from '../domain/read-body.ts';
import { useSettling } from './settle-records.fixture.ts';

const s = useSettling();

type Report = Extract<ReadRecord, { kind: 'report' }>;

function byId(attemptId: string, rest: Partial<Report> = {}): Report {
  return { kind: 'report', attempt: { kind: 'id', attemptId }, score: 7, evidenceJson: '', dedupe: null, ...rest };
}

type PlayerPart = { readonly playerRef: string; readonly parentId: string; readonly pick?: 'only' | 'oldest' };

function byPlayer({ playerRef, parentId, pick = 'only' }: PlayerPart, rest: Partial<Report> = {}): Report {
  const attempt = { kind: 'player', playerRef, parent: { kind: 'challenge', id: parentId }, pick } as const;
  return { ...byId('', rest), attempt, dedupe: rest.dedupe ?? newId() };
}

/** A player without an attempt, and how to open one. */
function newPlayer() {
  const player = { playerRef: `p-${newId()}`, parentId: newOwnedId('challenge') };
  return { ...player, open: () => s.contests.open(s.source.tenant, player) };
}

function result(status: string, attemptId: string | null, code: string | null = null) {
  return expect.objectContaining({ status, attemptId, code });
}

async function resultOf(record: ReadRecord, source = s.source) {
  const [end] = await s.settler.settle(source, [record]);
  return end?.result;
}

describe('a record that names its attempt', () => {
  it('a record that names its attempt settles it exactly once', async () => {
    const id = newPlayer().open();
    const record = byId(id, { score: 12.5, tiebreak: 3, evidenceJson: '{"a":1.0}' });
    const [first] = await s.settler.settle(s.source, [record]);
    expect(first).toEqual({
      result: { index: 0, status: 'settled', attemptId: id, code: null, message: null },
      settled: expect.objectContaining({ attemptId: id, score: 12.5, repeated: false }),
      isRepeated: false,
    });
    for (const replica of [s.settler, s.otherSettler]) {
      const [again] = await replica.settle(s.source, [record]);
      expect(again?.result).toEqual(result('duplicate', id));
      expect(again?.settled).toEqual({ ...(first?.settled as SettledRecord), repeated: true });
    }
    for (const other of [{ score: 13 }, { tiebreak: 4 }, { evidenceJson: '{"a":1}' }]) {
      expect(await resultOf({ ...record, ...other })).toEqual(result('rejected', id, 'attempt_already_settled'));
    }
    expect(s.contests.reportsOf(id)).toMatchObject([{ score: 12.5, tiebreak: 3, evidenceJson: '{"a":1.0}' }]);
  });

  it('only one of twelve concurrent scores for one attempt settles the attempt', async () => {
    const id = newPlayer().open();
    const ends = await Promise.all(
      Array.from({ length: 12 }, (_, score) =>
        (score % 2 === 0 ? s.settler : s.otherSettler).settle(s.source, [byId(id, { score })]),
      ),
    );
    const codes = ends.flat().map((end) => end.result.code);
    expect(codes.filter((code) => code === 'attempt_already_settled')).toHaveLength(11);
    expect(s.contests.reportsOf(id)).toMatchObject([{ score: codes.indexOf(null) }]);
  });

  it('a record that names an attempt of another program or environment is rejected with not_found', async () => {
    const id = newPlayer().open();
    const { tenant } = s.source;
    for (const other of [
      { ...tenant, programId: newId() },
      { ...tenant, environment: 'live' as const },
    ]) {
      expect(await resultOf(byId(id), { ...s.source, tenant: other })).toEqual(result('rejected', id, 'not_found'));
    }
    expect(await resultOf(byId(newId()))).toMatchObject({ status: 'rejected', code: 'not_found' });
    expect(s.contests.reportsOf(id)).toEqual([]);
  });

  it('a record that names its attempt is not stored by the integration service', async () => {
    const before = await s.countPairs();
    await resultOf(byId(newPlayer().open(), { dedupe: 'x' }));
    expect(await s.countPairs()).toBe(before);
  });
});

describe('the records of one body', () => {
  it('a refused, ignored or unreadable record does not affect the other records of its body', async () => {
    const [good, settled] = [newPlayer().open(), newPlayer().open()];
    await resultOf(byId(settled, { score: 1 }));
    const unknown = newOwnedId('challenge');
    const unreadable = {
      kind: 'unreadable',
      failure: { pointer: '/s', field: 'map.score', message: 'names nothing in the record' },
    } as const;
    const records = [byId(unknown), unreadable, byId(settled, { score: 2 }), { kind: 'ignored' } as const, byId(good)];
    const ends = await s.settler.settle(s.source, records);
    expect(ends.map((end) => [end.result.index, end.result.status, end.result.code])).toEqual([
      [0, 'rejected', 'not_found'],
      [1, 'rejected', 'invalid_request'],
      [2, 'rejected', 'attempt_already_settled'],
      [3, 'ignored', null],
      [4, 'settled', null],
    ]);
    expect(ends[1]?.result.message).toBe('map.score: `/s` names nothing in the record.');
  });

  it('a report that arrives twice in one body is settled once', async () => {
    const id = newPlayer().open();
    const ends = await s.settler.settle(s.source, [byId(id), byId(id)]);
    expect(ends.map((end) => end.result.status).sort()).toEqual(['duplicate', 'settled']);
    const player = newPlayer();
    const second = player.open();
    player.open();
    const record = byPlayer({ ...player, pick: 'oldest' });
    const ofPlayer = await s.settler.settle(s.source, [record, record]);
    expect(ofPlayer.map(({ result: { status, attemptId } }) => [status, attemptId])).toEqual([
      ['settled', second],
      ['duplicate', second],
    ]);
  });

  it('two reports of one player in one body settle the player’s two attempts, the oldest first', async () => {
    const player = newPlayer();
    const attempts = [player.open(), player.open()];
    const records = [1, 2, 3].map((score) => byPlayer({ ...player, pick: 'oldest' }, { score }));
    const ends = await s.settler.settle(s.source, records);
    expect(ends.map((end) => end.result)).toEqual([
      result('settled', attempts[0] ?? ''),
      result('settled', attempts[1] ?? ''),
      result('rejected', null, 'not_found'),
    ]);
  });

  it('the records of a body settle once even if the body failed and is sent again', async () => {
    const [one, other] = [newPlayer().open(), newPlayer().open()];
    s.contests.failOn(other, 'before');
    await expect(s.settler.settle(s.source, [byId(one), byId(other)])).rejects.toThrow('unreachable');
    expect(s.contests.reportsOf(one)).toHaveLength(1);
    const ends = await s.settler.settle(s.source, [byId(one), byId(other)]);
    expect(ends.map((end) => end.result.status)).toEqual(['duplicate', 'settled']);
  });
});

describe('a record that names a player', () => {
  it('a record that names a player commits its pair before it settles the attempt', async () => {
    const player = newPlayer();
    const id = player.open();
    let pairs: bigint | undefined;
    s.contests.beforeNext(async () => {
      pairs = await s.countPairsOf(id);
    });
    expect(await resultOf(byPlayer(player))).toEqual(result('settled', id));
    expect(pairs).toBe(1n);
  });

  it('a repeated record that names a player never settles a later attempt', async () => {
    for (const pick of ['only', 'oldest'] as const) {
      const player = newPlayer();
      const first = player.open();
      const record = byPlayer({ ...player, pick });
      expect(await resultOf(record)).toEqual(result('settled', first));
      const second = player.open();
      for (const replica of [s.settler, s.otherSettler]) {
        const [end] = await replica.settle(s.source, [record]);
        expect(end?.result).toEqual(result('duplicate', first));
      }
      expect(await resultOf({ ...record, score: 99 })).toEqual(result('rejected', first, 'attempt_already_settled'));
      expect(s.contests.reportsOf(second)).toEqual([]);
    }
  });

  it('a record with other evidence is another report, even with the same identifier', async () => {
    const player = newPlayer();
    const id = player.open();
    const record = byPlayer(player, { evidenceJson: '{"a":1}' });
    expect(await resultOf(record)).toEqual(result('settled', id));
    const other = { ...record, evidenceJson: '{"a":2}' };
    expect(await resultOf(other)).toEqual(result('rejected', id, 'attempt_already_settled'));
    expect(await resultOf(record)).toEqual(result('duplicate', id));
  });

  it.each(['before', 'after'] as const)(
    'a record whose report failed %s the settlement settles the same attempt when it is repeated',
    async (when) => {
      const player = newPlayer();
      const first = player.open();
      s.contests.failOn(first, when);
      const record = byPlayer({ ...player, pick: 'only' });
      await expect(resultOf(record)).rejects.toThrow('unreachable');
      const second = player.open();
      expect(await resultOf(record)).toEqual(result(when === 'before' ? 'settled' : 'duplicate', first));
      expect(s.contests.reportsOf(first)).toHaveLength(1);
      expect(s.contests.reportsOf(second)).toEqual([]);
    },
  );

  it('a repeated record whose pair was lost settles no other attempt', async () => {
    for (const pick of ['only', 'oldest'] as const) {
      const player = newPlayer();
      const first = player.open();
      const record = byPlayer({ ...player, pick });
      expect(await resultOf(record)).toEqual(result('settled', first));
      await s.losePairs();
      const second = player.open();
      expect(await resultOf(record)).toMatchObject({ status: 'rejected', code: 'attempt_already_settled' });
      expect(s.contests.reportsOf(second)).toEqual([]);
    }
  });

  it('two replicas settle a record once, for the oldest of the player’s attempts', async () => {
    const player = newPlayer();
    const [id, second] = [player.open(), player.open()];
    const record = byPlayer({ ...player, pick: 'oldest' });
    const ends = await Promise.all(
      Array.from({ length: 10 }, (_, index) => [s.settler, s.otherSettler][index % 2]?.settle(s.source, [record])),
    );
    const results = ends.flatMap((end) => end ?? []).map((end) => [end.result.attemptId, end.isRepeated]);
    expect(results.toSorted()).toEqual([[id, false], ...Array(9).fill([id, true])]);
    expect(s.contests.reportsOf(id)).toHaveLength(1);
    expect(s.contests.reportsOf(second)).toEqual([]);
  });

  it('a record is bound to the attempt that the first of two replicas committed', async () => {
    const player = newPlayer();
    const first = player.open();
    const record = byPlayer({ ...player, pick: 'oldest' });
    // After this replica finds the first attempt and before it commits, the attempt ends, and the
    // other replica finds the second.
    s.contests.beforeFound(async () => {
      s.contests.end(first);
      player.open();
      await s.otherSettler.settle(s.source, [record]);
    });
    const end = await resultOf(record);
    expect(end?.status).toBe('duplicate');
    expect(end?.attemptId).not.toBe(first);
  });

  it('a record is refused if the player has several open attempts and the descriptor allows only one', async () => {
    const player = newPlayer();
    const attempts = [player.open(), player.open()];
    expect(await resultOf(byPlayer({ ...player, pick: 'only' }))).toEqual(result('rejected', null, 'invalid_request'));
    expect(attempts.flatMap((id) => s.contests.reportsOf(id))).toEqual([]);
  });

  it('a corrected record settles the attempt for which the first record was refused', async () => {
    const player = newPlayer();
    const id = player.open();
    s.contests.refuseNext(id, refused('tiebreak_required'));
    expect(await resultOf(byPlayer(player))).toEqual(result('rejected', id, 'tiebreak_required'));
    expect(await resultOf(byPlayer(player, { tiebreak: 2 }))).toEqual(result('settled', id));
  });
});

describe('a score without an attempt', () => {
  it('a score without an attempt is kept as one sample while its challenge calibrates', async () => {
    const player = newPlayer();
    s.contests.calibrate(player.parentId);
    const record = byPlayer(player, { score: 42.5 });
    expect(await resultOf(record)).toEqual(result('listened', null));
    const later = player.open();
    expect(await resultOf(record)).toEqual(result('listened', null));
    expect(s.contests.reportsOf(later)).toEqual([]);
    const { tenant } = s.source;
    expect(await s.samplesOf(player.parentId)).toEqual([
      { program_id: tenant.programId, environment: tenant.environment, player_ref: player.playerRef, score: 42.5 },
    ]);
  });

  it('a score is not kept as a sample if the player has an open attempt', async () => {
    const player = newPlayer();
    expect(await resultOf(byPlayer(player))).toEqual(result('rejected', null, 'not_found'));
    s.contests.calibrate(player.parentId);
    const id = player.open();
    expect(await resultOf(byPlayer(player))).toEqual(result('settled', id));
    expect(await s.samplesOf(player.parentId)).toEqual([]);
  });

  it('a score that arrives twice is kept as one sample', async () => {
    const player = newPlayer();
    s.contests.calibrate(player.parentId);
    const record = byPlayer(player);
    await Promise.all([s.settler, s.otherSettler].map((settler) => settler.settle(s.source, [record, record])));
    expect(await s.samplesOf(player.parentId)).toHaveLength(1);
  });
});

it('a report settles at most one attempt, and an attempt is settled by at most one report', async () => {
  const step = fc.record({
    report: fc.nat(3),
    copies: fc.integer({ min: 1, max: 3 }),
    replica: fc.nat(1),
    opens: fc.boolean(),
    fails: fc.constantFrom(null, 'before', 'after'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const player = newPlayer();
      const attempts = [player.open()];
      const reports = [0, 1, 2, 3].map((score) => byPlayer({ ...player, pick: 'oldest' }, { score }));
      const attemptsOf = new Map<number, Set<string>>();
      for (const { report, copies, replica, opens, fails } of steps) {
        if (opens) attempts.push(player.open());
        const record = reports[report];
        if (record === undefined) throw new Error('no such report');
        if (fails !== null) for (const id of attempts) s.contests.failOn(id, fails);
        const settler = replica === 0 ? s.settler : s.otherSettler;
        const bodies = Array.from({ length: copies }, () => settler.settle(s.source, [record]));
        for (const ends of await Promise.allSettled(bodies)) {
          if (ends.status === 'rejected') continue;
          const attemptId = ends.value[0]?.settled?.attemptId;
          if (attemptId === undefined) continue;
          attemptsOf.set(report, (attemptsOf.get(report) ?? new Set()).add(attemptId));
        }
        s.contests.recover();
      }
      for (const ids of attemptsOf.values()) expect(ids.size).toBe(1);
      const scores = attempts.flatMap((id) => s.contests.reportsOf(id)).map(({ score }) => score);
      expect(new Set(scores).size, 'each report settles at most one attempt').toBe(scores.length);
      for (const id of attempts) expect(s.contests.reportsOf(id).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 40 },
  );
});
