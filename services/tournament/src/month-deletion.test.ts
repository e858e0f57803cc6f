import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deleteMonth, type Month, monthDeletionOf, monthOf, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ArchiveHost, type Played, startArchiveHost } from './archive.fixture.ts';
import { archivedMonths } from './archived-months.ts';
import { ATTEMPT } from './domain/example.ts';
import { insertAttempts } from './repository/attempts.ts';
import { boardOf, tableOf } from './rounds.fixture.ts';
import { created, HOUR_MS, PROGRAM, recorded, SIGNER, useHarness, verdictOf } from './tournament.fixture.ts';

const DAY_MS = 86_400_000;
const monthDeletion = monthDeletionOf('tournament');

let held: AsyncDisposableStack;
let host: ArchiveHost;
/** Connected as the archive's role. */
let archive: Database;
/** Connected as the role that runs the service. */
let running: Database;
/** How many months of the current database tests have used. */
let months: number;

beforeEach(async () => {
  held = new AsyncDisposableStack();
  host = held.use(await startArchiveHost());
  const connect = (url: string) =>
    held.use(createDatabase({ url, maxConnections: 2, applicationName: 'archive-test' }));
  archive = connect(archiveUrl());
  running = connect(host.scratch.runningUrl);
  months = 0;
  return () => held.disposeAsync();
});

function archiveUrl(): string {
  if (host.scratch.archiveUrl === undefined) throw new Error('the database has no role of the archive');
  return host.scratch.archiveUrl;
}

/**
 * Returns the next unused month of the database. Tests use the months in order, because the oldest
 * month must be deleted first.
 */
function nextMonth(): Month {
  const month = monthOf(`${1980 + Math.floor(months / 12)}-${String(1 + (months % 12)).padStart(2, '0')}`);
  if (month === null) throw new Error('no month');
  months += 1;
  return month;
}

/** Writes a month of two rounds with attempts of each kind, in three batches. */
async function writtenMonth(): Promise<Month> {
  const month = nextMonth();
  const played = Array.from({ length: 20 }, (_, day): Played => {
    const status = (['settled', 'settled', 'expired', 'voided', 'refused'] as const)[day % 5] ?? 'settled';
    return { status, text: `${day}`, score: day + 0.1 };
  });
  // The second round begins in the month before, so its attempts have ids of that month.
  await host.insertRound(later(month.from, 5 * DAY_MS), { played: played.slice(0, 12), expiredEntries: 2_050 });
  await host.insertRound(later(month.from, -HOUR_MS / 2), { played: played.slice(12) });
  await host.write(month);
  return month;
}

async function remove(month: Month, deletion = monthDeletion, copy: string | null = null): Promise<readonly string[]> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await deleteMonth(month, { database: archive, source: archivedMonths, deletion, root: host.root, copy, print });
  return lines;
}

/** Begins the deletion of the month, and deletes no batch. */
async function beginAlone(month: Month): Promise<void> {
  const stopped = new Error('stopped after the begin');
  const deletion = { ...monthDeletion, deleteBatch: () => Promise.reject(stopped) };
  await expect(remove(month, deletion)).rejects.toBe(stopped);
}

const OF_MONTH = 'select r.id from rounds r where r.closes_at >= $1 and r.closes_at < $2';
const KEPT = `
select a.id, a.round_id, a.entry_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.created_at, a.fee_generation,
  a.closed_reason, o.score, o.tiebreak, o.recorded_at, o.receipt_id
from attempts a left join outcomes o on o.attempt_id = a.id where a.round_id in (${OF_MONTH}) order by a.id`;
const ARCHIVED = `
select id, round_id, entry_id, account_id, player_ref, status, fee_cents, created_at, fee_generation,
  closed_reason, score, tiebreak, recorded_at, receipt_id
from archived_attempts where round_id in (${OF_MONTH}) order by id`;
const ROUNDS = `
select 'round' as kind, r.id, r::text as line from rounds r where r.id in (${OF_MONTH})
union all select 'tally', t.round_id, t::text from round_tallies t where t.round_id in (${OF_MONTH})
union all select 'entry', e.id, e::text from entries e where e.round_id in (${OF_MONTH})
order by 1, 2`;
/** Everything that deleting the month may change. */
const STATE = `
select 'attempt' as kind, a.id, a::text as line from attempts a where a.round_id in (${OF_MONTH})
union all select 'outcome', o.attempt_id, o::text from outcomes o
union all select 'archived', x.id, x::text from archived_attempts x where x.round_id in (${OF_MONTH})
union all select 'batch', b.id, b::text from archived_batches b
order by 1, 2`;
const SETTLED = `select a.id from attempts a where a.round_id in (${OF_MONTH}) and a.status = 'settled' order by a.id limit 1`;

const rowsOf = (text: string, { from, until }: Month) => host.database.query<{ id: string }>({ text }, [from, until]);
const stateOf = async (month: Month) => JSON.stringify(await rowsOf(STATE, month));

describe('a month of rounds that is deleted', () => {
  const played: fc.Arbitrary<Played> = fc.record({
    status: fc.constantFrom('settled', 'settled', 'expired', 'voided', 'refused'),
    text: fc.oneof(
      fc.constant('\u2028\u2029"\\\n選手'),
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    ),
    score: fc.double({ noDefaultInfinity: true, noNaN: true }).map((score) => score + 0),
  });

  it('a deleted month keeps each attempt’s archived row, its rounds and entries, and nothing else', async () => {
    const rounds = fc.array(fc.record({ day: fc.nat(26), played: fc.array(played, { maxLength: 6 }) }), {
      maxLength: 4,
    });
    const law = fc.asyncProperty(rounds, async (opened) => {
      const month = nextMonth();
      for (const { day, played: attempts } of opened) {
        await host.insertRound(later(month.from, day * DAY_MS), { played: attempts });
      }
      // A round that is still to be archived began in this month, and has ids of it.
      const long = await host.insertRound(later(month.until, -HOUR_MS / 2), {
        played: [{ status: 'settled', text: 'long', score: 1 }],
      });
      await host.write(month);
      const [kept, stays] = [await rowsOf(KEPT, month), await rowsOf(ROUNDS, month)];
      await remove(month);
      expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
      expect(await rowsOf(ROUNDS, month)).toEqual(stays);
      expect(await rowsOf(KEPT, month)).toEqual([]);
      const left = { text: 'select round_id from outcomes o join attempts a on a.id = o.attempt_id' };
      expect(await host.database.query(left)).toEqual([{ round_id: long }]);

      const state = await stateOf(month);
      const batches = kept.length === 0 ? 0 : 1;
      expect((await remove(month)).slice(1)).toEqual([
        `was begun before, ${batches} batches`,
        'was deleted before',
        'vacuumed',
      ]);
      expect(await stateOf(month)).toBe(state);
      const next = nextMonth();
      await host.write(next);
      await remove(next);
    });
    await fc.assert(law, { numRuns: 8 });
  });

  it('a month is deleted in batches of whole entries, of about 2,000 attempts', async () => {
    const month = await writtenMonth();
    const copy = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(copy, { recursive: true }));
    await cp(host.root, copy, { recursive: true });
    const lines = await remove(month, monthDeletion, copy);
    expect(lines.slice(0, 2)).toEqual(['verified, with its copy', 'begun, 3 batches']);
    const counts = lines.slice(2, 5).map((line) => Number(/(\d+) attempts deleted$/.exec(line)?.[1]));
    expect(counts.every((count) => count <= 2_001)).toBe(true);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4_120);
    expect(lines.slice(5)).toEqual(['deleted', 'vacuumed']);
    const split = {
      text: 'select from archived_batches one join archived_batches other on one.end_account_id = other.least_account_id',
    };
    expect(await host.database.query(split)).toHaveLength(2);
  });

  it('after a deletion the database refuses old attempts, and rounds that would close in the month', async () => {
    const month = await writtenMonth();
    const roundId = await host.insertRound(month.until, {});
    const attemptOf = (instant: Date) => ({
      attempt: {
        ...ATTEMPT,
        id: newOwnedId('tournament', instant),
        roundId,
        entryId: newId(),
        accountId: newId(),
        feeCents: cents(500n),
        createdAt: new Date(),
      },
      idempotencyUse: null,
    });
    const at = (days: number) => later(month.until, days * DAY_MS);
    await remove(month);
    for (const days of [-1, -1_000]) {
      await expect(insertAttempts(running, [attemptOf(at(days))])).rejects.toMatchObject({
        constraint: 'attempts_are_not_of_an_archived_month',
      });
    }
    const late = attemptOf(at(0));
    expect(await insertAttempts(running, [late])).toEqual(new Set([late.attempt.id]));
    await expect(host.insertRound(at(-1), {})).rejects.toMatchObject({
      constraint: 'rounds_do_not_close_in_an_archived_month',
    });
    // An attempt of a round that is still open may have an old id, and ends as every other.
    const old = { text: `update attempts set status = 'expired' where id = $1` };
    await running.query(old, [late.attempt.id]);
  });

  it('a deletion begins only for the oldest month, 7 days after its end, and if it can no longer change', async () => {
    const [first, second] = [await writtenMonth(), await writtenMonth()];
    await expect(remove(second)).rejects.toThrow(`the oldest first, and ${second.name} is not the next`);

    const [row] = await rowsOf(KEPT, first);
    await host.database.query({ text: 'insert into refunds_due (attempt_id, since) values ($1, now())' }, [row?.id]);
    await expect(remove(first)).rejects.toThrow(`${first.name} may still change`);
    await host.database.query({ text: 'delete from refunds_due' });
    const event = `insert into outbox (event_id, payload, environment) values ($1, '', 'live')`;
    await host.database.query({ text: event }, [newId(first.from)]);
    await expect(remove(first)).rejects.toThrow(`${first.name} may still change`);
    await host.database.query({ text: 'delete from outbox' });

    await remove(first);
    await remove(second);
    const present = monthOf(new Date().toISOString().slice(0, 7));
    if (present === null) throw new Error('no month');
    await host.write(present);
    await expect(remove(present)).rejects.toThrow(`${present.name} has not ended 7 days ago`);
    expect(await host.database.query({ text: 'select month from archived_months order by 1' })).toEqual([
      { month: first.name },
      { month: second.name },
    ]);
  });

  it('a deletion does not begin if the files differ from the rows or from the copy', async () => {
    const month = await writtenMonth();
    const copy = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(copy, { recursive: true }));
    await expect(remove(month, monthDeletion, copy)).rejects.toThrow(
      `${join(copy, 'tournament', month.name)} is not valid`,
    );
    await cp(host.root, copy, { recursive: true });
    const folder = join(host.root, 'tournament', month.name);
    await rm(folder, { recursive: true });
    await host.write(month);
    await expect(remove(month, monthDeletion, copy)).rejects.toThrow('is valid, and not a copy of');
    for (const [table, change] of [
      ['attempts', `update attempts set player_ref = 'x' || player_ref where status = 'voided'`],
      ['entries', 'update entries set created_at = now()'],
    ] as const) {
      await host.database.query({ text: change });
      await expect(remove(month)).rejects.toThrow(new RegExp(`rows of (attempts|${table}), which are not`));
    }
    expect(await host.database.query({ text: 'select from archived_months' })).toEqual([]);
  });

  it('a deletion that has begun accepts only its own manifest, and the month is not written again', async () => {
    const month = await writtenMonth();
    const folder = join(host.root, 'tournament', month.name);
    const earlier = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(earlier, { recursive: true }));
    await cp(folder, earlier, { recursive: true });
    await rm(folder, { recursive: true });
    await host.write(month);
    await beginAlone(month);
    await rm(folder, { recursive: true });
    await expect(host.write(month)).rejects.toThrow(`${month.name} may still change: it is being deleted`);
    expect(await archivedMonths.oldest(host.database)).toEqual(later(month.from, HOUR_MS / 2));
    await cp(earlier, folder, { recursive: true });
    await expect(remove(month)).rejects.toThrow(`${month.name} was begun with another manifest`);
  });

  it('a month that was deleted is not written again', async () => {
    const month = await writtenMonth();
    await remove(month);
    expect(await archivedMonths.oldest(host.database)).toBeNull();
  });

  it.each([
    ['a changed attempt', `update attempts set player_ref = 'other' where id = $1`],
    ['a changed outcome', `update outcomes set score = 77 where attempt_id = $1`],
    [
      'a missing attempt',
      `delete from attempts where id = (
         select a.id from attempts a, attempts given
         where given.id = $1 and a.status = 'expired' and a.round_id = given.round_id order by a.account_id limit 1)`,
    ],
    ['a missing outcome', 'delete from outcomes where attempt_id = $1'],
    [
      'an added attempt',
      `insert into attempts select gen_random_uuid(), round_id, entry_id, account_id, player_ref, 'expired', fee_cents, metadata, created_at
       from attempts where id = $1`,
    ],
  ])('a batch with %s is not deleted, not even in part', async (_, change) => {
    const month = await writtenMonth();
    await beginAlone(month);
    const [settled] = await rowsOf(SETTLED, month);
    // Without this trigger, which would refuse the added attempt before the deletion does.
    await host.database.query({ text: 'drop trigger attempts_are_not_of_an_archived_month on attempts' });
    await host.database.query({ text: change }, [settled?.id]);
    await expect(remove(month)).rejects.toThrow(`of ${month.name} are not those of the archive`);
    const state = await stateOf(month);
    await expect(remove(month)).rejects.toThrow(`of ${month.name} are not those of the archive`);
    expect(await stateOf(month)).toBe(state);
  });

  it('a deletion ends only if no attempt is left and the kept rows add up to the manifest', async () => {
    const month = await writtenMonth();
    await beginAlone(month);
    await expect(monthDeletion.end(archive, month.name)).rejects.toThrow(`${month.name} still has attempts`);
    for (const number of [1, 2, 3])
      expect(await monthDeletion.deleteBatch(archive, month.name, number)).toBeGreaterThan(0);
    expect(await monthDeletion.deleteBatch(archive, month.name, 1)).toBe(0);
    await host.database.query({ text: `update archived_attempts set fee_cents = 99 where status = 'voided'` });
    await expect(monthDeletion.end(archive, month.name)).rejects.toThrow('does not add up to what its manifest states');
    await host.database.query({ text: `update archived_attempts set fee_cents = 500 where status = 'voided'` });
    expect(await monthDeletion.end(archive, month.name)).toBe(true);
    expect(await monthDeletion.end(archive, month.name)).toBe(false);
  });
});

describe('a deletion of rounds while the service runs', () => {
  const CREATE = {
    text: `
    with entered as (
      insert into entries (id, round_id, account_id, created_at) values ($1, $2, gen_random_uuid(), now()) returning account_id
    )
    insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
    select $1, $2, $1, account_id, 'p', 'open', 500, '{}', now() from entered`,
  };
  const LOCK = { text: 'select from attempts where id = $1 for no key update' };
  const SETTLE = { text: `update attempts set status = 'settled' where id = any($1::uuid[])` };
  const OUTCOME = {
    text: `
    insert into outcomes (attempt_id, receipt_id, score, recorded_at, receipt, signature, signing_key_id)
    select $1, gen_random_uuid(), 1, now(), '{}', decode(repeat('00', 64), 'hex'), id from signing_keys`,
  };
  const COUNT = { text: 'select count(*)::int as count from outcomes where attempt_id = any($1::uuid[])' };
  const DELETE = { text: 'select delete_archived_batch($1, 1)' };

  it('a deletion begins only after a running creation has ended, and releases its lock between tries', async () => {
    const month = await writtenMonth();
    const roundId = await host.insertRound(month.until, {});
    const [written, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const creation = running.transaction(async (tx) => {
      await tx.query(CREATE, [newOwnedId('tournament'), roundId]);
      written.resolve();
      await over.promise;
    });
    await written.promise;
    let refusals = 0;
    const deletion: typeof monthDeletion = {
      ...monthDeletion,
      async begin(...begun) {
        try {
          return await monthDeletion.begin(...begun);
        } catch (error) {
          refusals += 1;
          over.resolve();
          await creation;
          throw error;
        }
      },
    };
    expect(await remove(month, deletion)).toContain('deleted');
    expect(refusals).toBe(1);
  });

  it('creations and outcomes do not wait for the deletion of a batch, and the deletion does not wait for them', async () => {
    const month = await writtenMonth();
    const roundId = await host.insertRound(month.until, {});
    await beginAlone(month);
    const [before, beside, alone] = [newOwnedId('tournament'), newOwnedId('tournament'), newOwnedId('tournament')];
    await running.query(CREATE, [before, roundId]);
    await running.transaction(async (session) => {
      await session.query(LOCK, [before]);
      await session.query(OUTCOME, [before]);
      await archive.transaction(async (deleting) => {
        await deleting.query(DELETE, [month.name]);
        await session.query(CREATE, [beside, roundId]);
        await session.query(OUTCOME, [beside]);
        await running.query(CREATE, [alone, roundId]);
      });
      await session.query(SETTLE, [[before, beside]]);
    });
    expect(await host.database.query(COUNT, [[before, beside]])).toEqual([{ count: 2 }]);
    expect(await remove(month)).toContain('deleted');
  });

  it('the role that runs the service may not delete a month', async () => {
    const month = await writtenMonth();
    await beginAlone(month);
    const state = await stateOf(month);
    for (const theft of [
      () => monthDeletion.deleteBatch(running, month.name, 1),
      () => monthDeletion.end(running, month.name),
      () => monthDeletion.begin(running, '1990-01', { manifestSha256: Buffer.alloc(32), totals: [], batches: [] }),
      () => running.query({ text: 'delete from attempts' }),
      () => running.query({ text: 'delete from outcomes' }),
      () => running.query({ text: 'update archived_attempts set fee_cents = 1' }),
      () => running.query({ text: 'drop trigger attempts_are_not_of_an_archived_month on attempts' }),
    ]) {
      await expect(theft()).rejects.toMatchObject({ code: '42501' });
    }
    expect(await stateOf(month)).toBe(state);
  });
});

describe('the audit of a deletion', () => {
  const h = useHarness({ takesEvents: true, startsAt: new Date('2025-01-10T00:00:00.000Z') });

  it('the audit of both services finds nothing after each step, and all is read as before', async () => {
    const month = monthOf('2025-01');
    if (month === null) throw new Error('no month');
    const [first, second] = [await h.player(), await h.player()];
    const rounds: string[] = [];
    const ids: string[] = [];
    const play = async (roundId: string, ref: string, score: number | null) => {
      const { id } = created(await h.create(roundId, ref, newOwnedId('tournament', h.clock())));
      if (score !== null) recorded(await h.report(id, score));
      h.clock.advance(1);
      ids.push(id);
      return id;
    };
    for (const minEntrants of [1, 9]) {
      const { id } = await h.openRound({ minEntrants, attemptCap: 5 });
      for (const score of [3, 1]) {
        await play(id, first.ref, score);
        await play(id, second.ref, score);
      }
      const voided = await play(id, second.ref, null);
      expectAccepted(await h.tournament.voidAttempt({ attemptId: voided, reason: 'a broken game' }));
      await play(id, first.ref, null);
      expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: id }));
      rounds.push(id);
    }
    await h.server.sweepOnce();
    const open = await h.openRound({}, { lengthMs: 40 * DAY_MS });
    const openId = newOwnedId('tournament', h.clock());
    created(await h.create(open.id, first.ref, openId));
    await h.database.query({ text: 'delete from outbox' });
    await writeMonth(month, { ...h, source: archivedMonths, signer: SIGNER, root: host.root });

    const read = async () => ({
      attempts: await Promise.all(
        ids.map(async (attemptId) => {
          const { attempt } = expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId }));
          return { ...attempt, metadataJson: '' };
        }),
      ),
      boards: await Promise.all(rounds.map((id) => boardOf(h, id, first.ref))),
      tables: await Promise.all(rounds.map((id) => tableOf(h, id))),
    });
    const before = await read();
    const slices = h.auditInSlices({ runBudgetMs: 0, maxPageSize: 3 });
    const audited =
      <Values extends readonly unknown[], Result>(step: (...values: Values) => Promise<Result>) =>
      async (...values: Values): Promise<Result> => {
        const result = await step(...values);
        expect(await h.violations()).toEqual([]);
        expect((await slices.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
        expect(await read()).toEqual(before);
        return result;
      };
    const { begin, deleteBatch, end, vacuum } = monthDeletion;
    const deletion = {
      ...monthDeletion,
      begin: audited(begin),
      deleteBatch: audited(deleteBatch),
      end: audited(end),
      vacuum: audited(vacuum),
    };
    await using database = createDatabase({ url: h.archiveUrl, maxConnections: 2, applicationName: 'archive-test' });
    const print = () => {};
    await deleteMonth(month, { database, source: archivedMonths, deletion, root: host.root, copy: null, print });
    expect(await h.database.query({ text: 'select from attempts where id = any($1::uuid[])' }, [ids])).toEqual([]);

    // The attempt of the open round has an id of the month, and is still played. The pass under way
    // ends before, because the test's clock records the score long before the pass began.
    expect(await h.violations()).toEqual([]);
    recorded(await h.report(openId, 5));
    // No attempt with this id was created, so the service tries to create one. The database refuses
    // the attempt, and no fee is charged.
    const late = await h.player();
    const balance = await h.balance(late.accountId);
    expect(verdictOf(await h.create(open.id, late.ref, newOwnedId('tournament', h.clock())))).toBe('failure');
    expect(await h.balance(late.accountId)).toBe(balance);
    expect(await h.violations()).toEqual([]);
  });
});

describe('the command that deletes a month of rounds', () => {
  const run = (argv: readonly string[], failpoints?: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        TOURNAMENT_ARCHIVE_DATABASE_URL: archiveUrl(),
        ...(failpoints !== undefined && { FAILPOINTS_DIR: failpoints }),
      },
    });
  const newFailpoints = async () => {
    const failpoints = await mkdtemp(join(tmpdir(), 'laurel-failpoints-'));
    held.defer(() => rm(failpoints, { recursive: true }));
    return failpoints;
  };
  const COUNTS = {
    text: `select (select count(*)::int from archived_months) as begun, (select count(*)::int from archived_months where deleted_at is not null) as ended,
      (select count(*)::int from archived_batches where deleted_at is not null) as batches`,
  };

  it.each([
    ['the comparison', 'tournament.archive.after-comparison', { begun: 0, batches: 0, ended: 0 }],
    ['the begin', 'tournament.archive.after-begin', { begun: 1, batches: 0, ended: 0 }],
    ['a batch', 'tournament.archive.after-batch', { begun: 1, batches: 1, ended: 0 }],
    ['the end', 'tournament.archive.after-end', { begun: 1, batches: 3, ended: 1 }],
  ])(
    'a run that is killed after %s leaves each attempt in exactly one table, and the next run finishes',
    async (_, point, expected) => {
      const month = await writtenMonth();
      const kept = await rowsOf(KEPT, month);
      const failpoints = await newFailpoints();
      await writeFile(join(failpoints, point), 'kill');
      const argv = ['--delete', month.name, '--from', host.root];
      expect(run(argv, failpoints)).toMatchObject({ signal: 'SIGKILL' });

      expect(await host.database.query(COUNTS)).toEqual([expected]);
      const there = [...(await rowsOf(KEPT, month)), ...(await rowsOf(ARCHIVED, month))];
      expect(there.sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual(kept);

      const again = run(argv);
      expect(again).toMatchObject({ status: 0, stderr: '' });
      expect(again.stdout).toMatch(/^tournament \d{4}-\d\d: verified, without a copy\n/);
      expect(again.stdout).toMatch(/\ntournament \d{4}-\d\d: vacuumed\n$/);
      expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
      expect(await rowsOf(KEPT, month)).toEqual([]);
      expect(await readdir(join(host.root, 'tournament'))).toEqual([month.name]);
    },
  );

  it('a month whose runs are killed after each batch, the last included, is ended by the run after them', async () => {
    const month = await writtenMonth();
    const kept = await rowsOf(KEPT, month);
    const failpoints = await newFailpoints();
    const argv = ['--delete', month.name, '--from', host.root];
    for (const batch of [1, 2, 3]) {
      await writeFile(join(failpoints, 'tournament.archive.after-batch'), 'kill');
      const killed = run(argv, failpoints);
      expect(killed).toMatchObject({ signal: 'SIGKILL' });
      expect(killed.stdout).toContain(`batch ${batch} of 3`);
    }
    expect(await host.database.query(COUNTS)).toEqual([{ begun: 1, batches: 3, ended: 0 }]);
    expect(await rowsOf(KEPT, month)).toEqual([]);
    expect(run(argv)).toMatchObject({ status: 0, stderr: '' });
    expect(await host.database.query(COUNTS)).toEqual([{ begun: 1, batches: 3, ended: 1 }]);
    expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
  });
});
