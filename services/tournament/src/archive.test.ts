/** Months of whole rounds, which the service itself played, settled and cancelled. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Month, monthOf, rowsIn, verifyMonth, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { createSigner } from '@laurel/signature';
import { expectAccepted, type TestPlayer, verdictOnReceipt } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archivedMonths } from './archived-months.ts';
import { inspectMonth } from './domain/archived-month.ts';
import { archivedSealOf } from './domain/archived-seal.ts';
import { awardIdOfRank } from './domain/purse.ts';
import type { Round } from './domain/tournament.ts';
import { receiptOf } from './rounds.fixture.ts';
import {
  BY_SECONDS,
  created,
  HOUR_MS,
  LIVE_PROGRAM,
  PROGRAM,
  recorded,
  SIGNER,
  SIGNING_SEED,
  useHarness,
} from './tournament.fixture.ts';

// The tests deliver the events by emptying the outbox.
const h = useHarness({ takesEvents: true, startsAt: new Date('2025-01-10T00:00:00.000Z') });

const held = new AsyncDisposableStack();
let database: Database;
let root: string;
/** A receipt of a settled round in January 2025. */
let receiptId: string;
let attemptId: string;
/** The round of February 2025. */
let liveRoundId: string;

const month = (name: string): Month => {
  const found = monthOf(name);
  if (found === null) throw new Error(`${name} is no month`);
  return found;
};
const KEYS = [{ publicKey: SIGNER.publicKey, from: new Date(0), until: null }];
const write = (name: string, signer = SIGNER) =>
  writeMonth(month(name), { database, signer, root, source: archivedMonths });
const verify = (folder: string) => verifyMonth(folder, { months: archivedMonths, keys: KEYS });
const deliverEvents = () => h.database.query({ text: 'delete from outbox' });

async function play(
  { id }: Pick<Round, 'id'>,
  { ref }: Pick<TestPlayer, 'ref'>,
  score: number,
  { tiebreak, tenant = PROGRAM }: { tiebreak?: number; tenant?: typeof PROGRAM } = {},
) {
  const attempt = created(await h.create(id, ref, newOwnedId('tournament', h.clock()), tenant));
  const options = { evidence: '{"text":"\u2028選手"}', tenant, ...(tiebreak !== undefined && { tiebreak }) };
  const outcome = recorded(await h.report(attempt.id, score, options));
  h.clock.advance(1);
  return { attemptId: attempt.id, receiptId: outcome.receiptId };
}

const close = (roundId: string) => h.tournament.closeRound({ tenant: PROGRAM, roundId });

/** A settled round with refs, attempts without a score, and payouts that operators decided. */
async function playSettledRound(): Promise<void> {
  const round = await h.openRound({ ...BY_SECONDS, attemptCap: 6 });
  const players = await Promise.all(Array.from({ length: 5 }, () => h.player()));
  for (const [index, player] of players.entries()) {
    for (let turn = 0; turn < 3; turn += 1) {
      const tiebreak = (index + turn) % 2;
      ({ receiptId, attemptId } = await play(round, player, 10 - index - (turn % 2), { tiebreak }));
    }
  }
  const [first, second, third] = players;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are too few players');
  await play(round, { ref: await h.secondRefOf(third) }, -4.5, { tiebreak: 1 });
  created(await h.create(round.id, second.ref, newOwnedId('tournament', h.clock())));
  for (const { ref } of [first, second]) {
    expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: ref } }));
  }
  expectAccepted(await close(round.id));
  expectAccepted(await h.tournament.releaseAward({ awardId: awardIdOfRank(round.id, 1), operator: 'ada' }));
  expectAccepted(
    await h.tournament.denyAward({ awardId: awardIdOfRank(round.id, 2), operator: 'ada', reason: 'A bot.' }),
  );
}

async function playCancelledRounds(): Promise<void> {
  const player = await h.player();
  const small = await h.openRound({ minEntrants: 2 });
  await play(small, player, 1);
  expectAccepted(await close(small.id));
  const wrong = await h.openRound();
  await play(wrong, player, 2);
  created(await h.create(wrong.id, player.ref, newOwnedId('tournament', h.clock())));
  expectAccepted(await h.tournament.cancelRound({ roundId: wrong.id, reason: 'The game was wrong.', operator: 'ada' }));
}

/** A live round that began in January and ends in February. */
async function playLiveRound(): Promise<void> {
  h.clock.advance(Date.UTC(2025, 0, 31, 23) - h.clock().getTime());
  const round = await h.openRound({ purse: [cents(2_000n)] }, { tenant: LIVE_PROGRAM });
  liveRoundId = round.id;
  const player = await h.player(undefined, undefined, LIVE_PROGRAM);
  await play(round, player, 7, { tenant: LIVE_PROGRAM });
  h.clock.advance(2 * HOUR_MS);
  await h.server.sweepOnce();
}

beforeAll(async () => {
  database = held.use(createDatabase({ url: h.runningUrl, maxConnections: 3, applicationName: 'archive-test' }));
  root = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
  held.defer(() => rm(root, { recursive: true }));
  await playSettledRound();
  await playCancelledRounds();
  await playLiveRound();
  await deliverEvents();
  await write('2025-01');
});
afterAll(() => held.disposeAsync());

describe('a month of the archive', () => {
  it('a month contains all rows of the rounds that ended in the month', async () => {
    expect(await write('2025-01')).toMatchObject({ isNew: false });
    const { files, totals } = await verify(join(root, 'tournament', '2025-01'));
    expect(Object.fromEntries(files.map(({ table, rows }) => [table, rows]))).toMatchObject({
      rounds: 3,
      round_tallies: 3,
      round_cancellations: 1,
      entries: 7,
      entry_refs: 8,
      attempts: 20,
      outcomes: 18,
      round_payouts: 3,
      award_reviews: 2,
      seals: 1,
      seal_nodes: 1,
    });
    const sorted = totals.map(({ table, environment, status, rows, cents: sum }) =>
      [table, environment, status, rows, sum].join(' '),
    );
    expect(sorted.sort()).toEqual([
      'attempts test expired 2 1000',
      'attempts test settled 18 9000',
      'round_payouts test denied 1 5000',
      'round_payouts test paid 2 15000',
      'rounds test cancelled 2 40000',
      'rounds test settled 1 20000',
    ]);

    const live = await write('2025-02');
    expect(live).toMatchObject({ isNew: true });
    expect(live.manifest.totals).toContainEqual({
      table: 'rounds',
      environment: 'live',
      status: 'settled',
      rows: 1,
      cents: '2000',
    });
  });

  it('verifying a written month finds any changed byte', async () => {
    const folder = join(root, 'tournament', '2025-01');
    const names = (await readdir(folder)).sort();
    const law = fc.asyncProperty(
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (fileAt, byteAt, change) => {
        const path = join(folder, names[fileAt % names.length] ?? '');
        const bytes = await readFile(path);
        const at = byteAt % bytes.length;
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        // The line break at the end of the manifest may be another space.
        fc.pre(!(path.endsWith('.json') && at === bytes.length - 1 && /\s/.test(String.fromCharCode(changed[at]))));
        await writeFile(path, changed);
        try {
          await expect(verify(folder)).rejects.toThrow();
        } finally {
          await writeFile(path, bytes);
        }
      },
    );
    await fc.assert(law, { numRuns: 40 });
    await verify(folder);
  });

  it('a month is not written while one of its rounds is not settled', async () => {
    h.clock.advance(Date.UTC(2025, 3, 10) - h.clock().getTime());
    const round = await h.openRound();
    const player = await h.player();
    await play(round, player, 3);
    await expect(write('2025-04')).rejects.toThrow(`2025-04 may still change: the round ${round.id} is open`);

    expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: player.ref } }));
    expectAccepted(await close(round.id));
    const awardId = awardIdOfRank(round.id, 1);
    await expect(write('2025-04')).rejects.toThrow(`the payout ${awardId} is held`);

    expectAccepted(await h.tournament.releaseAward({ awardId }));
    await expect(write('2025-04')).rejects.toThrow('is not delivered to the webhook service');
    await deliverEvents();
    expect(await write('2025-04')).toMatchObject({ isNew: true });
  });

  it('a month is not written while one of its fees is to be refunded', async () => {
    h.clock.advance(Date.UTC(2025, 4, 10) - h.clock().getTime());
    const round = await h.openRound();
    const one = await play(round, await h.player(), 3);
    expectAccepted(await close(round.id));
    await deliverEvents();
    const due = { text: 'insert into refunds_due (attempt_id, since) values ($1, now())' };
    await h.database.query(due, [one.attemptId]);
    await expect(write('2025-05')).rejects.toThrow(`the fee of ${one.attemptId} is due back`);
    await h.database.query({ text: 'delete from refunds_due where attempt_id = $1' }, [one.attemptId]);
    expect(await write('2025-05')).toMatchObject({ isNew: true });
    expect(await readdir(join(root, 'tournament'))).not.toContain('2025-05.draft');
  });

  it('a later run compares a written month with the database again', async () => {
    const change = { text: `update entry_refs set player_ref = 'x' || player_ref where round_id = $1` };
    const undo = { text: 'update entry_refs set player_ref = substring(player_ref from 2) where round_id = $1' };
    await h.database.query(change, [liveRoundId]);
    await expect(write('2025-02')).rejects.toThrow('rows of entry_refs, which are not the 1 of the database');
    await h.database.query(undo, [liveRoundId]);
    expect(await write('2025-02')).toMatchObject({ isNew: false });
  });
});

describe('the inspection of a month', () => {
  type Change = (row: Record<string, unknown>, at: number) => Record<string, unknown> | null;
  const ANY_SIGNATURE = { put: () => {}, isGenuine: () => true };

  /** Inspects January with each row of one table changed, or left out. Every signature passes. */
  const inspect = (table: string, change: Change) => {
    const rows = rowsIn(join(root, 'tournament', '2025-01'));
    async function* changed(of: string) {
      let at = -1;
      for await (const row of rows(of)) {
        at += 1;
        const kept = of === table ? change({ ...row }, at) : row;
        if (kept !== null) yield kept;
      }
    }
    return inspectMonth(month('2025-01'), changed, ANY_SIGNATURE);
  };
  const without: Change = (row, at) => (at === 0 ? null : row);

  it.each<[string, string, Change, string]>([
    ['a round that is not over', 'rounds', (row) => ({ ...row, status: 'settling' }), 'is settling'],
    [
      'a round of another month',
      'rounds',
      (row) => ({ ...row, closes_at: '2025-02-01T00:00:00+00:00' }),
      'did not end',
    ],
    ['a round without its tournament', 'tournaments', () => null, 'the tournament of round'],
    ['another purse', 'rounds', (row) => ({ ...row, purse_cents: [9_000, 5_000, 5_000] }), 'cents for rank 1'],
    ['a round left out', 'rounds', without, 'has no tally'],
    ['a tally left out', 'round_tallies', without, 'has no tally'],
    ['an entry left out', 'entries', without, 'best of its own'],
    ['a settled round that was cancelled', 'rounds', (row) => ({ ...row, status: 'settled' }), 'has the rank null'],
    ['an attempt left out', 'attempts', without, 'without an outcome'],
    ['an outcome left out', 'outcomes', without, 'without an outcome'],
    ['another score', 'outcomes', (row) => ({ ...row, score: 1_000 }), 'is not that of its outcome'],
    ['another best run', 'entries', (row) => ({ ...row, best_attempt_id: null }), 'is not the best of its own'],
    ['another sort key', 'entries', (row) => ({ ...row, sort_key: row.sort_key && `${row.sort_key}00` }), 'sort key'],
    ['a ref without its entry', 'entry_refs', (row) => ({ ...row, account_id: newId() }), 'has no entry'],
    ['a payout left out', 'round_payouts', without, 'no payout that follows'],
    ['a payout to another', 'round_payouts', (row) => ({ ...row, account_id: newId() }), 'no payout that follows'],
    ['another amount', 'round_payouts', (row) => ({ ...row, amount_cents: 1 }), 'no payout that follows'],
    ['a payout that is held', 'round_payouts', (row) => ({ ...row, status: 'held' }), 'no payout that follows'],
    ['another decision', 'award_reviews', (row) => ({ ...row, decision: 'denied' }), 'and was denied'],
    ['a review of no payout', 'award_reviews', (row) => ({ ...row, award_id: newId() }), 'belongs to no other'],
    ['a seal left out', 'seals', without, 'settled without a seal'],
    ['another player in a leaf', 'attempts', (row) => ({ ...row, player_ref: 'x' }), 'has other leaves'],
    ['another statement', 'seals', (row) => ({ ...row, statement: '{}' }), 'is not that of its leaves'],
    ['another count of entrants', 'round_tallies', (row) => ({ ...row, entrants: 9 }), 'is not that of its leaves'],
    ['a node left out', 'seal_nodes', without, 'has other leaves'],
  ])('finds %s', async (_, table, change, message) => {
    await expect(inspect(table, change)).rejects.toThrow(new RegExp(message));
  });

  it('finds a statement or a receipt that its key did not sign', async () => {
    const rows = rowsIn(join(root, 'tournament', '2025-01'));
    for (const [column, message] of [
      ['receipt', 'the receipt'],
      ['statement', 'the seal'],
    ] as const) {
      const signatures = { put: () => {}, isGenuine: (_: unknown, of: string) => of !== column };
      await expect(inspectMonth(month('2025-01'), rows, signatures)).rejects.toThrow(message);
    }
  });
});

describe('the command of the archive', () => {
  let folder: string;
  const archive = (argv: readonly string[], failpoints?: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        TOURNAMENT_DATABASE_URL: h.runningUrl,
        RECEIPT_SIGNING_SEED: SIGNING_SEED.toString('base64'),
        ...(failpoints !== undefined && { FAILPOINTS_DIR: failpoints }),
      },
    });
  const writeTo = (to: string, failpoints?: string) => archive(['--before', '2025-03', '--to', to], failpoints);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(folder, { recursive: true }));
  });

  it.each([
    ['the files', 'tournament.archive.after-files', false],
    ['the manifest', 'tournament.archive.after-manifest', false],
    ['the verification', 'tournament.archive.after-verification', false],
    ['the rename', 'tournament.archive.after-rename', true],
  ])('the next run completes a month whose run was killed after %s', async (_, point, isThere) => {
    const to = await mkdtemp(join(folder, 'killed-'));
    await writeFile(join(to, point), 'kill');
    expect(writeTo(to, to)).toMatchObject({ signal: 'SIGKILL' });
    expect((await readdir(join(to, 'tournament'))).includes('2025-01')).toBe(isThere);
    const again = writeTo(to);
    expect(again.stdout).toMatch(
      isThere ? /^tournament 2025-01: was there, verified again/ : /^tournament 2025-01: written and verified/,
    );
    expect(again.status).toBe(0);
    expect((await readdir(join(to, 'tournament'))).sort()).toEqual(['2025-01', '2025-02']);
    await verify(join(to, 'tournament', '2025-01'));
  });

  it('the command verifies a month without the database', async () => {
    const list = join(folder, 'keys.json');
    const key = { public_key: SIGNER.publicKey.toString('base64'), from: new Date(0).toISOString(), until: null };
    await writeFile(list, JSON.stringify({ keys: [key] }));
    const verifyWith = (keys: string) => archive(['--verify', join(root, 'tournament', '2025-01'), '--keys', keys]);
    expect(verifyWith(list)).toMatchObject({
      status: 0,
      stdout: 'VALID: 2025-01 of the service tournament, unchanged since it was signed\n',
    });
    const other = createSigner(Buffer.alloc(32, 1)).publicKey.toString('base64');
    await writeFile(list, JSON.stringify({ keys: [{ ...key, public_key: other }] }));
    expect(verifyWith(list)).toMatchObject({ status: 1, stdout: '' });
  });

  it('the command prints an attempt with its receipt and seal in the same form as the service returns them', async () => {
    const from = ['--month', join(root, 'tournament', '2025-01')];
    const rows = rowsIn(join(root, 'tournament', '2025-01'));
    let sealed = 0;
    for await (const outcome of rows('outcomes')) {
      const { seal } = await receiptOf(h, String(outcome.receipt_id));
      const printed = await archivedSealOf(outcome, rows);
      expect(printed === null ? null : JSON.parse(printed)).toEqual(seal);
      if (seal !== null) sealed += 1;
    }
    expect(sealed).toBe(16);

    const printed = JSON.parse(archive(['--receipt', receiptId, ...from]).stdout);
    const { canonical: text, signature: bytes, seal: counting } = await receiptOf(h, receiptId);
    expect(printed).toEqual({ receipt: JSON.parse(text), signature: bytes.toString('base64'), seal: counting });
    const { stdout } = archive(['--attempt', attemptId, ...from]);
    const [, attempt = '', canonical = '', signature = '', seal = ''] =
      /^\{"attempt":(.*),"receipt":(\{.*\}),"signature":"([^"]*)","seal":(\{.*\})\}\n$/s.exec(stdout) ?? [];
    expect(JSON.parse(attempt)).toMatchObject({ id: attemptId, status: 'settled' });
    expect(JSON.parse(canonical)).toMatchObject({ receipt_id: receiptId });
    const signed = { canonical, signature: Buffer.from(signature, 'base64'), publicKey: SIGNER.publicKey };
    expect(await verdictOnReceipt({ ...signed, seal: JSON.parse(seal) })).toMatchObject({
      kind: 'valid',
      counted: { seal: { leaf: { attempt_id: attemptId } } },
    });
    expect(archive(['--receipt', newId(), ...from]).status).toBe(1);
    expect(archive(['--attempt', newId(), ...from]).status).toBe(1);
  });

  it('the command refuses a month that ended less than 7 days ago, and a service other than its own', () => {
    const next = new Date(Date.now() + 40 * 24 * HOUR_MS).toISOString().slice(0, 7);
    const refused = archive(['--before', next, '--to', folder]);
    expect(refused).toMatchObject({ status: 1, stderr: 'tournament: a month is written when it ended 7 days ago\n' });
    expect(archive(['--before', '2025-01', '--to', folder, '--service', 'challenge']).status).toBe(1);
  });
});
