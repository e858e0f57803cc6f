import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deleteMonth, type Month, monthDeletionOf, monthOf, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { createSigner } from '@laurel/signature';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ArchiveHost, DAY_MS, type Played, played, startArchiveHost } from './archive.fixture.ts';
import { archivedMonths } from './archived-months.ts';
import { created, PROGRAM, recorded, useHarness, verdictOf } from './challenge.fixture.ts';
import { insertAttempts } from './repository/attempts.ts';
import { everyNth, openSeeded, usePlay } from './workers/monitor.fixture.ts';

const monthDeletion = monthDeletionOf('challenge');

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

/** Writes a month with attempts of each kind, in three batches. */
async function writtenMonth(): Promise<Month> {
  const month = nextMonth();
  await host.insertExpired(month.from, 4_100);
  for (let day = 0; day < 20; day += 1) {
    const status = (['settled', 'settled', 'expired', 'voided', 'refused'] as const)[day % 5] ?? 'settled';
    await host.insert(month.from, { day, status, text: `${day}`, score: day + 0.1, wins: day % 2 === 0 });
  }
  await host.write(month);
  return month;
}

interface Deleted {
  readonly lines: readonly string[];
}

async function remove(month: Month, deletion = monthDeletion, copy: string | null = null): Promise<Deleted> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await deleteMonth(month, { database: archive, source: archivedMonths, deletion, root: host.root, copy, print });
  return { lines };
}

/** Returns everything that deleting the month may change, as text. */
async function stateOf({ leastId, endId }: Month): Promise<string> {
  return JSON.stringify(await host.database.query({ text: STATE }, [leastId, endId]));
}
const STATE = `
select 'attempt' as kind, a.id, a::text as line from attempts a where a.id > $1 and a.id < $2
union all select 'outcome', o.attempt_id, o::text from outcomes o where o.attempt_id > $1 and o.attempt_id < $2
union all select 'archived', r.id, r::text from archived_attempts r where r.id > $1 and r.id < $2
union all select 'award', w.id, w::text from awards w where w.attempt_id > $1 and w.attempt_id < $2
union all select 'batch', b.least_id, b::text from archived_batches b where b.least_id >= $1 and b.least_id < $2
order by 1, 2`;

const KEPT = `
select a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold, a.created_at,
  a.fee_generation, a.closed_reason, o.score, o.met_threshold, o.recorded_at, o.receipt_id
from attempts a left join outcomes o on o.attempt_id = a.id where a.id > $1 and a.id < $2 order by a.id`;
const ARCHIVED = `
select id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, created_at,
  fee_generation, closed_reason, score, met_threshold, recorded_at, receipt_id
from archived_attempts where id > $1 and id < $2 order by id`;

const rowsOf = (text: string, { leastId, endId }: Month) =>
  host.database.query<{ id: string }>({ text }, [leastId, endId]);

describe('a month that is deleted', () => {
  it('a deleted month keeps each attempt’s archived row and award, and nothing else', async () => {
    const law = fc.asyncProperty(fc.array(played, { maxLength: 12 }), async (attempts: readonly Played[]) => {
      const month = nextMonth();
      for (const attempt of attempts) await host.insert(month.from, attempt);
      await host.write(month);
      const [kept, awards] = [await rowsOf(KEPT, month), await rowsOf(AWARDS, month)];
      await remove(month);
      expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
      expect(await rowsOf(AWARDS, month)).toEqual(awards);
      expect(await rowsOf(KEPT, month)).toEqual([]);
      expect(await rowsOf('select attempt_id from outcomes where attempt_id > $1 and attempt_id < $2', month)).toEqual(
        [],
      );

      const state = await stateOf(month);
      expect((await remove(month)).lines.slice(1)).toEqual([
        `was begun before, ${attempts.length === 0 ? 0 : 1} batches`,
        'was deleted before',
        'vacuumed',
      ]);
      expect(await stateOf(month)).toBe(state);
    });
    await fc.assert(law, { numRuns: 12 });
  });
  const AWARDS = 'select * from awards where attempt_id > $1 and attempt_id < $2 order by id';

  it('a month is deleted in batches of at most 2,000 attempts', async () => {
    const month = await writtenMonth();
    const copy = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(copy, { recursive: true }));
    await cp(host.root, copy, { recursive: true });
    expect((await remove(month, monthDeletion, copy)).lines).toEqual([
      'verified, with its copy',
      'begun, 3 batches',
      'batch 1 of 3: 2000 attempts deleted',
      'batch 2 of 3: 2000 attempts deleted',
      'batch 3 of 3: 120 attempts deleted',
      'deleted',
      'vacuumed',
    ]);
  });

  it('after a deletion the database refuses new attempts with ids of this or an earlier month', async () => {
    const month = await writtenMonth();
    const attemptOf = (instant: Date) => ({
      attempt: {
        id: newOwnedId('challenge', instant),
        challengeId: host.challengeId,
        accountId: newId(),
        playerRef: 'late',
        status: 'pending' as const,
        feeCents: cents(100n),
        prizeCents: cents(400n),
        threshold: 10,
        metadata: '{}',
        createdAt: new Date(),
        disqualifiedAt: null,
        feeGeneration: 0,
        closedReason: null,
      },
      idempotencyUse: null,
    });
    const at = (days: number) => new Date(month.until.getTime() + days * DAY_MS);
    await remove(month);
    for (const days of [-1, -1_000]) {
      await expect(insertAttempts(running, [attemptOf(at(days))])).rejects.toMatchObject({
        constraint: 'attempts_id_is_not_archived',
      });
    }
    const later = attemptOf(at(0));
    expect(await insertAttempts(running, [later])).toEqual(new Set([later.attempt.id]));
  });

  it('a deletion begins only for the oldest month, 7 days after its end, and if it can no longer change', async () => {
    const [first, second] = [await writtenMonth(), await writtenMonth()];
    await expect(remove(second)).rejects.toThrow(`the oldest first, and ${second.name} is not the next`);

    const [row] = await rowsOf(KEPT, first);
    await host.database.query({ text: 'insert into refunds_due (attempt_id, since) values ($1, now())' }, [row?.id]);
    await expect(remove(first)).rejects.toThrow(`${first.name} may still change`);
    await host.database.query({ text: 'delete from refunds_due' });

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
      `${join(copy, 'challenge', month.name)} is not valid`,
    );
    await cp(host.root, copy, { recursive: true });
    const folder = join(host.root, 'challenge', month.name);
    await rm(folder, { recursive: true });
    await host.write(month);
    await expect(remove(month, monthDeletion, copy)).rejects.toThrow('is valid, and not a copy of');
    const change = {
      text: `update attempts set player_ref = 'x' || player_ref where id > $1 and id < $2 and status = 'voided'`,
    };
    await host.database.query(change, [month.leastId, month.endId]);
    await expect(remove(month)).rejects.toThrow('rows of attempts, which are not the 4120 of the database');
    expect(await host.database.query({ text: 'select from archived_months' })).toEqual([]);
  });

  it('a deletion that has begun accepts only its own manifest, and the month is not written again', async () => {
    const month = await writtenMonth();
    const folder = join(host.root, 'challenge', month.name);
    const earlier = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(earlier, { recursive: true }));
    await cp(folder, earlier, { recursive: true });
    await rm(folder, { recursive: true });
    await host.write(month);
    await beginAlone(month);
    await rm(folder, { recursive: true });
    await expect(host.write(month)).rejects.toThrow(`${month.name} may still change: it is being deleted`);
    await cp(earlier, folder, { recursive: true });
    await expect(remove(month)).rejects.toThrow(`${month.name} was begun with another manifest`);
  });

  it.each([
    ['a changed attempt', `update attempts set player_ref = 'other' where id = $1`],
    ['a changed outcome', `update outcomes set score = 77 where attempt_id = $1`],
    [
      'a missing attempt',
      `delete from attempts where id = (select a.id from attempts a where a.id > $1 and a.status = 'expired' order by a.id limit 1)`,
    ],
    ['a missing outcome', 'delete from outcomes where attempt_id = $1'],
    [
      'an added attempt',
      `insert into attempts select ('PREFIX' || substr(gen_random_uuid()::text, 9))::uuid, challenge_id, account_id, player_ref,
        'expired', fee_cents, prize_cents, threshold, metadata, created_at from attempts where id = $1`,
    ],
  ])('a batch with %s is not deleted, not even in part', async (_, change) => {
    const month = await writtenMonth();
    await beginAlone(month);
    const [settled] = await rowsOf(SETTLED, month);
    // Without this constraint, which would refuse the added attempt before the deletion does.
    await host.database.query({ text: 'alter table attempts drop constraint attempts_id_is_not_archived' });
    // The first 32 bits of an id count units of 65,536 ms.
    const prefix = Math.ceil(month.from.getTime() / 65_536)
      .toString(16)
      .padStart(8, '0');
    await host.database.query({ text: change.replace('PREFIX', prefix) }, [settled?.id]);
    const state = await stateOf(month);
    await expect(remove(month)).rejects.toThrow(`the rows of batch 1 of ${month.name} are not those of the archive`);
    expect(await stateOf(month)).toBe(state);
  });
  const SETTLED = `select id from attempts where id > $1 and id < $2 and status = 'settled' order by id limit 1`;

  it('a deletion ends only if no attempt is left and the kept rows add up to the manifest', async () => {
    const month = await writtenMonth();
    await beginAlone(month);
    await expect(monthDeletion.end(archive, month.name)).rejects.toThrow(`${month.name} still has attempts`);
    for (const number of [1, 2, 3])
      expect(await monthDeletion.deleteBatch(archive, month.name, number)).toBeGreaterThan(0);
    expect(await monthDeletion.deleteBatch(archive, month.name, 1)).toBe(0);
    await host.database.query({ text: `update archived_attempts set fee_cents = 99 where status = 'voided'` });
    await expect(monthDeletion.end(archive, month.name)).rejects.toThrow('does not add up to what its manifest states');
    await host.database.query({ text: `update archived_attempts set fee_cents = 100 where status = 'voided'` });
    expect(await monthDeletion.end(archive, month.name)).toBe(true);
    expect(await monthDeletion.end(archive, month.name)).toBe(false);
  });
});

/** Begins the deletion of the month, and deletes no batch. */
async function beginAlone(month: Month): Promise<void> {
  const stopped = new Error('stopped after the begin');
  const deletion = { ...monthDeletion, deleteBatch: () => Promise.reject(stopped) };
  await expect(remove(month, deletion)).rejects.toBe(stopped);
}

describe('a deletion while the service runs', () => {
  const CREATE = {
    text: `
    insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
    values ($1, $2, gen_random_uuid(), 'p', 'open', 100, 400, 10, '{}', now())`,
  };
  const LOCK = { text: 'select from attempts where id = $1 for no key update' };
  const SETTLE = { text: `update attempts set status = 'settled' where id = any($1::uuid[])` };
  const OUTCOME = {
    text: `
    insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
    select $1, gen_random_uuid(), 1, false, now(), '{}', decode(repeat('00', 64), 'hex'), id from signing_keys`,
  };
  const COUNT = { text: 'select count(*)::int as count from outcomes where attempt_id = any($1::uuid[])' };
  const DELETE = { text: 'select delete_archived_batch($1, 1)' };

  it('a deletion begins only after a running creation has ended, and releases its lock between tries', async () => {
    const month = await writtenMonth();
    const [written, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const creation = running.transaction(async (tx) => {
      await tx.query(CREATE, [newOwnedId('challenge'), host.challengeId]);
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
    expect((await remove(month, deletion)).lines).toContain('deleted');
    expect(refusals).toBe(1);
  });

  it('creations and outcomes do not wait for the deletion of a batch, and the deletion does not wait for them', async () => {
    const month = await writtenMonth();
    await beginAlone(month);
    const [before, beside, alone] = [newOwnedId('challenge'), newOwnedId('challenge'), newOwnedId('challenge')];
    await running.query(CREATE, [before, host.challengeId]);
    await running.transaction(async (session) => {
      await session.query(LOCK, [before]);
      await session.query(OUTCOME, [before]);
      await archive.transaction(async (deleting) => {
        await deleting.query(DELETE, [month.name]);
        await session.query(CREATE, [beside, host.challengeId]);
        await session.query(OUTCOME, [beside]);
        await running.query(CREATE, [alone, host.challengeId]);
      });
      await session.query(SETTLE, [[before, beside]]);
    });
    expect(await host.database.query(COUNT, [[before, beside]])).toEqual([{ count: 2 }]);
    expect((await remove(month)).lines).toContain('batch 2 of 3: 2000 attempts deleted');
  });

  it('the role that runs the service may not delete a month', async () => {
    const month = await writtenMonth();
    await beginAlone(month);
    const state = await stateOf(month);
    for (const theft of [
      () => monthDeletion.deleteBatch(running, month.name, 1),
      () => monthDeletion.end(running, month.name),
      () => monthDeletion.begin(running, '1990-01', { manifestSha256: Buffer.alloc(32), totals: [], batches: [] }),
    ]) {
      await expect(theft()).rejects.toMatchObject({ code: '42501' });
    }
    expect(await stateOf(month)).toBe(state);
  });
});

describe('the audit', () => {
  const h = useHarness();

  it('the audit of both services finds nothing after each step of a deletion', async () => {
    const longAgo = new Date(Date.now() - 45 * DAY_MS);
    const month = monthOf(longAgo.toISOString().slice(0, 7));
    if (month === null) throw new Error('no month');
    const challenge = await h.open();
    const ids: string[] = [];
    for (const ends of ['won', 'lost', 'expired', 'voided'] as const) {
      const id = newOwnedId('challenge', longAgo);
      created(await h.create(challenge.id, (await h.player()).ref, id));
      if (ends === 'won' || ends === 'lost') recorded(await h.report(id, ends === 'won' ? 100 : 1));
      if (ends === 'expired') expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: id }));
      if (ends === 'voided') expectAccepted(await h.challenge.voidAttempt({ attemptId: id, reason: 'a broken game' }));
      ids.push(id);
    }
    await h.server.sweepOnce();
    await writeMonth(month, { ...h, source: archivedMonths, signer: createSigner(h.seed), root: host.root });

    const audited =
      <Values extends readonly unknown[], Result>(step: (...values: Values) => Promise<Result>) =>
      async (...values: Values): Promise<Result> => {
        const result = await step(...values);
        expect(await h.violations()).toEqual([]);
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
    for (const attemptId of ids) expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId }));

    // No attempt with this id was created, so the service tries to create one. The database refuses
    // the attempt, and no fee is charged.
    const late = await h.player();
    const balance = await h.balance(late.accountId);
    expect(verdictOf(await h.create(challenge.id, late.ref, newOwnedId('challenge', longAgo)))).toBe('failure');
    expect(await h.balance(late.accountId)).toBe(balance);
  });
});

describe('a month in which a challenge ramped', () => {
  const h = useHarness();
  const { play } = usePlay(h);

  it('a month is archived and deleted after a ramp with a refused, an expired and a late attempt', async () => {
    const longAgo = new Date(Date.now() - 45 * DAY_MS);
    const month = monthOf(longAgo.toISOString().slice(0, 7));
    if (month === null) throw new Error('no month');
    const challengeId = await openSeeded(h);
    const [refused, expired, late] = [
      newOwnedId('challenge', longAgo),
      newOwnedId('challenge', longAgo),
      newOwnedId('challenge', longAgo),
    ];
    const poor = await h.player(undefined, 0n);
    created(await h.create(challengeId, (await h.player()).ref, expired));
    created(await h.create(challengeId, (await h.player()).ref, late));
    expect(verdictOf(await h.create(challengeId, poor.ref, refused))).toBe('insufficient_funds');
    expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: expired }));
    await play(challengeId, everyNth(60, 4));
    await play(challengeId, everyNth(40, 4));
    const { challenge } = expectAccepted(await h.challenge.getChallenge({ challengeId }));
    expect(challenge).toMatchObject({ status: ChallengeStatus.LIVE, ramp: undefined });
    recorded(await h.report(late, 100));
    await h.server.sweepOnce();

    await writeMonth(month, { ...h, source: archivedMonths, signer: createSigner(h.seed), root: host.root });
    await using database = createDatabase({ url: h.archiveUrl, maxConnections: 2, applicationName: 'archive-test' });
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const deletion = { database, source: archivedMonths, deletion: monthDeletion, root: host.root, copy: null, print };
    await deleteMonth(month, deletion);
    expect(lines).toContain('batch 1 of 1: 3 attempts deleted');
  });
});

describe('the command that deletes a month', () => {
  const run = (argv: readonly string[], failpoints?: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        CHALLENGE_ARCHIVE_DATABASE_URL: archiveUrl(),
        ...(failpoints !== undefined && { FAILPOINTS_DIR: failpoints }),
      },
    });

  it.each([
    ['the comparison', 'challenge.archive.after-comparison', { begun: 0, batches: 0, ended: 0 }],
    ['the begin', 'challenge.archive.after-begin', { begun: 1, batches: 0, ended: 0 }],
    ['a batch', 'challenge.archive.after-batch', { begun: 1, batches: 1, ended: 0 }],
    ['the end', 'challenge.archive.after-end', { begun: 1, batches: 3, ended: 1 }],
  ])(
    'a run that is killed after %s leaves each attempt in exactly one table, and the next run finishes',
    async (_, point, expected) => {
      const month = await writtenMonth();
      const kept = await rowsOf(KEPT, month);
      const failpoints = await mkdtemp(join(tmpdir(), 'laurel-failpoints-'));
      held.defer(() => rm(failpoints, { recursive: true }));
      await writeFile(join(failpoints, point), 'kill');
      const argv = ['--delete', month.name, '--from', host.root];
      expect(run(argv, failpoints)).toMatchObject({ signal: 'SIGKILL' });

      const [found] = await host.database.query({
        text: `select (select count(*)::int from archived_months) as begun, (select count(*)::int from archived_months where deleted_at is not null) as ended,
        (select count(*)::int from archived_batches where deleted_at is not null) as batches`,
      });
      expect(found).toEqual(expected);
      const there = [...(await rowsOf(KEPT, month)), ...(await rowsOf(ARCHIVED, month))];
      expect(there.sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual(kept);

      const again = run(argv);
      expect(again.stderr).toBe('');
      expect(again.status).toBe(0);
      expect(again.stdout).toMatch(/^challenge \d{4}-\d\d: verified, without a copy\n/);
      expect(again.stdout).toMatch(/\nchallenge \d{4}-\d\d: vacuumed\n$/);
      expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
      expect(await rowsOf(KEPT, month)).toEqual([]);
      expect(await readdir(join(host.root, 'challenge'))).toEqual([month.name]);
    },
  );

  it('a month whose runs are killed after each batch, the last included, is ended by the run after them', async () => {
    const month = await writtenMonth();
    const kept = await rowsOf(KEPT, month);
    const failpoints = await mkdtemp(join(tmpdir(), 'laurel-failpoints-'));
    held.defer(() => rm(failpoints, { recursive: true }));
    const argv = ['--delete', month.name, '--from', host.root];
    for (const batch of [1, 2, 3]) {
      await writeFile(join(failpoints, 'challenge.archive.after-batch'), 'kill');
      const killed = run(argv, failpoints);
      expect(killed).toMatchObject({ signal: 'SIGKILL' });
      expect(killed.stdout).toContain(`batch ${batch} of 3`);
    }
    expect(await rowsOf(KEPT, month)).toEqual([]);
    const ENDED = { text: 'select from archived_months where deleted_at is not null' };
    expect(await host.database.query(ENDED)).toEqual([]);
    expect(run(argv)).toMatchObject({ status: 0, stderr: '' });
    expect(await host.database.query(ENDED)).toHaveLength(1);
    expect(await rowsOf(ARCHIVED, month)).toEqual(kept);
  });

  it('the command says why it does not delete a month', async () => {
    const missing = run(['--delete', '1980-01', '--from', host.root]);
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^challenge: .*1980-01 is not valid: ENOENT/);
    expect(run(['--delete', '1980', '--from', host.root]).stderr).toBe('challenge: 1980 is no month, as 2026-01 is\n');
    expect(run(['--delete', '1980-01'])).toMatchObject({ status: 2 });
  });
});
