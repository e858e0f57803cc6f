/** Inserts old attempts, for the tests of the archive. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { putSigningKey } from '@laurel/attempts';
import { type Month, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { createSigner } from '@laurel/signature';
import { createTestDatabase, type TestDatabase } from '@laurel/testing';
import { awardIdOf, newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { archivedMonths } from './archived-months.ts';
import { LIVE_CHALLENGE } from './domain/example.ts';
import { insertChallenge } from './repository/challenges.ts';

export const SEED = Buffer.alloc(32, 5);
export const SIGNER = createSigner(SEED);
export const DAY_MS = 86_400_000;

export interface Played {
  readonly day: number;
  readonly status: 'settled' | 'expired' | 'voided' | 'refused';
  readonly text: string;
  readonly score: number;
  readonly wins: boolean;
}

export const played: fc.Arbitrary<Played> = fc.record({
  day: fc.nat(27),
  status: fc.constantFrom('settled', 'settled', 'expired', 'voided', 'refused'),
  // Without NUL, which PostgreSQL cannot store; with U+2028, at which some readers of lines end a
  // line.
  text: fc.oneof(
    fc.constant('\u2028\u2029"\\\n選手'),
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  ),
  score: fc.double({ noDefaultInfinity: true, noNaN: true }),
  wins: fc.boolean(),
});

const INSERT_ATTEMPT = {
  text: `
insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at, closed_reason)
values ($1, $2, $3, $4, $5, 100, 400, 10, $6, $7, $8)`,
};
const INSERT_OUTCOME = {
  text: `
insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
};
const INSERT_AWARD = {
  text: `
insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at, paid_at)
values ($1, $2, $3, $4, 400, 'paid', $5, $5)`,
};

const INSERT_EXPIRED = {
  text: `
insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
select i.id, $3, gen_random_uuid(), 'p', 'expired', 100, 400, 10, '{}', i.created_at
from unnest($1::uuid[], $2::timestamptz[]) as i (id, created_at)`,
};

/** A database of the challenge service, with a challenge and a folder for its archive. */
export interface ArchiveHost extends AsyncDisposable {
  readonly scratch: TestDatabase;
  /** As the superuser. */
  readonly database: Database;
  readonly challengeId: string;
  /** The folder of the archive. */
  readonly root: string;
  /**
   * Inserts an attempt into the month that begins at `first`. Returns the id of the attempt's
   * receipt.
   */
  insert(first: Date, attempt: Played): Promise<string>;
  /** Inserts expired attempts, one per minute from `first` on. */
  insertExpired(first: Date, count: number): Promise<void>;
  write(month: Month): ReturnType<typeof writeMonth>;
}

export async function startArchiveHost(): Promise<ArchiveHost> {
  await using held = new AsyncDisposableStack();
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const database = held.use(createDatabase({ url: scratch.url, maxConnections: 3, applicationName: 'archive-test' }));
  const signingKeyId = await putSigningKey(database, SIGNER.publicKey);
  const challengeId = newId();
  await insertChallenge(database, {
    ...LIVE_CHALLENGE,
    id: challengeId,
    tenant: { programId: newId(), environment: 'live' },
  });
  const root = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
  held.defer(() => rm(root, { recursive: true }));
  const cleanup = held.move();
  return {
    scratch,
    database,
    challengeId,
    root,
    async insert(first, { day, status, text, score, wins }) {
      const createdAt = new Date(first.getTime() + day * DAY_MS);
      const [id, accountId, receiptId] = [newOwnedId('challenge', createdAt), newId(), newId(createdAt)];
      const reason = status === 'voided' || status === 'refused' ? 'abandoned' : null;
      const metadata = JSON.stringify({ text });
      await database.query(INSERT_ATTEMPT, [
        id,
        challengeId,
        accountId,
        `p${text}`,
        status,
        metadata,
        createdAt,
        reason,
      ]);
      if (status !== 'settled') return receiptId;
      const { canonical, signature } = SIGNER.sign({
        attempt_id: id,
        receipt_id: receiptId,
        score,
        evidence: { text },
        recorded_at: createdAt.toISOString(),
      });
      await database.query(INSERT_OUTCOME, [id, receiptId, score, wins, createdAt, canonical, signature, signingKeyId]);
      if (wins) await database.query(INSERT_AWARD, [awardIdOf(id, 'challenge'), id, challengeId, accountId, createdAt]);
      return receiptId;
    },
    async insertExpired(first, count) {
      const instants = Array.from({ length: count }, (_, minute) => new Date(first.getTime() + minute * 60_000));
      const ids = instants.map((instant) => newOwnedId('challenge', instant));
      await database.query(INSERT_EXPIRED, [ids, instants, challengeId]);
    },
    write: (month) => writeMonth(month, { database, signer: SIGNER, root, source: archivedMonths }),
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}
