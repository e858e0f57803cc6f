/**
 * Measures the hot statements of both services as the services send them: through their own
 * functions and connections, one call after the other, on each database in turn.
 */
import { randomUUID } from 'node:crypto';
import type { EmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { createDatabase, type Database } from '@laurel/postgres';
import { awardIdOf, feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import type { Contests } from '../scale/contests.ts';
import { CHALLENGES_PER_PROGRAM, PROGRAMS } from '../scale/shape.ts';
import { type AgingService, withDatabase } from './databases.ts';

/** How often a statement is called in a turn. */
const CALLS = 150;
/** Items in a call: one, as with one client, and sixteen, as under load. */
const BATCHES = [1, 16];
const RECEIPT = JSON.stringify({ receipt: 'x'.repeat(560) });
const SIGNATURE = Buffer.alloc(64, 7);
const UNLIMITED = 1_000_000_000_000n;

// Services do not export their repositories; tests/locks loads them in the same way.
const load = (path: string) => import(new URL(`../../${path}.ts`, import.meta.url).href);

interface Player {
  readonly account_id: string;
  readonly player_ref: string;
  readonly program_id: string;
  readonly date_of_birth: string;
}

/** Times some calls of one statement. */
type Timed = (name: string, calls: number, call: (nth: number) => Promise<unknown>) => Promise<void>;
type Turn = (database: Database, batch: number, timed: Timed) => Promise<void>;

/** Returns the rows of the printed tables; the first row of each is its head. */
export async function measureStatements(
  postgres: EmbeddedPostgres,
  contests: Contests,
  { turns, counts }: { readonly turns: number; readonly counts: readonly number[] },
): Promise<readonly (string | number)[][][]> {
  const players = await withDatabase(postgres, 'wallet', async (client) => {
    const { rows } = await client.query<Player>(
      `
      select link.account_id, link.player_ref, link.program_id, accounts.date_of_birth::text as date_of_birth
      from player_links as link join accounts on accounts.id = link.account_id
      -- All accounts enter the large round of the first program; those of another play challenges.
      where link.program_id <> $1
      order by md5(link.account_id::text) limit 5000`,
      [contests.programIds[0]],
    );
    return rows;
  });
  const measured: Record<AgingService, Turn> = {
    challenge: await challengeTurn(postgres, contests, players),
    wallet: await walletTurn(postgres, players),
  };
  const tables: (string | number)[][][] = [];
  for (const service of ['challenge', 'wallet'] as const) {
    const names = [service, ...counts.map((count) => `${service}_${count}`)];
    const head = ['plain', ...counts.map((count) => (count === 1 ? '1 partition' : `${count} partitions`))];
    const ms = new Map<string, number[][]>();
    await using databases = new AsyncDisposableStack();
    const connected = names.map((name) =>
      databases.use(createDatabase({ url: postgres.url(name), maxConnections: 1, applicationName: 'aging' })),
    );
    for (let turn = -1; turn < turns; turn += 1) {
      for (let place = 0; place < names.length; place += 1) {
        const index = (place + turn + names.length) % names.length;
        const database = connected[index];
        if (database === undefined) continue;
        for (const batch of BATCHES) {
          await measured[service](database, batch, async (name, calls, call) => {
            const startedAt = performance.now();
            for (let nth = 0; nth < calls; nth += 1) await call(nth);
            const key = `${name}, ${batch}`;
            const of = ms.get(key) ?? names.map(() => []);
            // The first turn plans the statements.
            if (turn >= 0) of[index]?.push((performance.now() - startedAt) / calls);
            ms.set(key, of);
          });
        }
      }
    }
    const rows = [...ms].map(([name, of]) => {
      const [plain = 0, ...others] = of.map(median);
      return [
        name,
        ...[plain, ...others].map((value) => value.toFixed(3)),
        ...others.map((value) => (plain / value).toFixed(2)),
      ];
    });
    const ratios = counts.map((count) => `plain / ${count}`);
    tables.push([[`${service}: ms of a call, items`, ...head, ...ratios], ...rows]);
    tables.push([
      ['a new connection', 'first calls ms', 'memory KiB after them'],
      ...(await Promise.all(names.map((name) => coldCalls(postgres, name, measured[service])))),
    ]);
  }
  return tables;
}

/**
 * Measures a new connection, which has planned nothing yet: the time of the first calls, and the
 * memory that its plans and caches take afterwards.
 */
async function coldCalls(postgres: EmbeddedPostgres, name: string, turn: Turn): Promise<(string | number)[]> {
  await using database = createDatabase({ url: postgres.url(name), maxConnections: 1, applicationName: 'aging' });
  await database.query({ text: 'select 1' });
  let totalMs = 0;
  await turn(database, 1, async (_, calls, call) => {
    for (let nth = 0; nth < Math.min(calls, 2); nth += 1) {
      const startedAt = performance.now();
      await call(nth);
      if (nth === 0) totalMs += performance.now() - startedAt;
    }
  });
  const [row] = await database.query<{ kib: number }>({
    text: 'select (sum(total_bytes) / 1024)::float8 as kib from pg_backend_memory_contexts',
  });
  return [name, totalMs.toFixed(1), Math.round(row?.kib ?? 0)];
}

async function challengeTurn(
  postgres: EmbeddedPostgres,
  contests: Contests,
  players: readonly Player[],
): Promise<Turn> {
  const { insertOptimisticAttempts } = await load('services/challenge/src/repository/optimistic-attempts');
  const { settleOptimistically, findReceipt, loadOutcome } = await load('services/challenge/src/repository/outcomes');
  const { findAttempt } = await load('services/challenge/src/repository/attempts');
  const { findAwardOfAttempt } = await load('services/challenge/src/repository/awards');
  const { loadFactsOfAccount } = await load('services/challenge/src/repository/player-facts');
  const { openAttempts } = await load('libs/attempts/src/repository/attempts');
  const { loadPending, loadIdsDueToExpire } = await load('libs/attempts/src/repository/sweeps');
  const old = await withDatabase(postgres, 'challenge', async (client) => {
    const { rows } = await client.query<{ attempt_id: string; receipt_id: string }>(
      'select attempt_id, receipt_id from outcomes order by md5(attempt_id::text) limit 2000',
    );
    return rows;
  });
  const at = (nth: number) => old[nth % old.length];
  let made = 0;
  // A player plays challenges of programs in which the fill gave no prize to the player.
  const newAttempt = () => {
    const player = players[made % players.length] as Player;
    const step = 1 + Math.floor(made / players.length);
    const program = (contests.programIds.indexOf(player.program_id) + 1 + (step % (PROGRAMS - 1))) % PROGRAMS;
    const nth = Math.floor(step / (PROGRAMS - 1)) % CHALLENGES_PER_PROGRAM;
    made += 1;
    return {
      id: newOwnedId('challenge'),
      challengeId: contests.challengeIds[program * CHALLENGES_PER_PROGRAM + nth],
      accountId: player.account_id,
      playerRef: player.player_ref,
      status: 'pending',
      feeCents: 100n,
      prizeCents: 400n,
      threshold: 100,
      metadata: '{}',
      createdAt: new Date(),
      disqualifiedAt: null,
      feeGeneration: 0,
      closedReason: null,
    };
  };
  return async (database, batch, timed) => {
    const batches: ReturnType<typeof newAttempt>[][] = [];
    await timed('create', CALLS, async () => {
      const attempts = Array.from({ length: batch }, newAttempt);
      batches.push(attempts);
      const decided = attempts.map((attempt) => ({
        attempt,
        challengeVersion: 1n,
        needsSlot: false,
        idempotencyUse: null,
      }));
      const written = await insertOptimisticAttempts(database, decided, { now: new Date() });
      if (written.size !== batch) throw new Error(`${written.size} of ${batch} attempts were written`);
    });
    await timed('open', batches.length, (nth) =>
      openAttempts(
        database,
        batches[nth]?.map(({ id }) => ({ attemptId: id, feeGeneration: 0 })),
        null,
      ),
    );
    const settle = async (attempts: ReturnType<typeof newAttempt>[], wins: boolean) => {
      const now = new Date();
      const outcomes = attempts.map((attempt, index) => ({
        attempt: { ...attempt, status: 'open' },
        outcome: {
          attemptId: attempt.id,
          receiptId: newId(),
          score: 1,
          metThreshold: wins && index === 0,
          thresholdApplied: 100,
          recordedAt: now,
        },
        awardId: wins && index === 0 ? awardIdOf(attempt.id, 'challenge') : null,
        receipt: RECEIPT,
        signature: SIGNATURE,
        idempotencyUse: null,
        event: null,
        isMonitored: false,
      }));
      const settled = await settleOptimistically(database, outcomes, 1);
      if (settled.size !== attempts.length) throw new Error(`${settled.size} of ${attempts.length} were settled`);
    };
    const wins = Math.ceil(batches.length / 5);
    await timed('outcome, none wins', batches.length - wins, (nth) => settle(batches[nth + wins] ?? [], false));
    await timed('outcome, one wins', wins, (nth) => settle(batches[nth] ?? [], true));
    if (batch > 1) return;
    await timed('read an attempt', CALLS, (nth) => findAttempt(database, at(nth)?.attempt_id));
    await timed('read an outcome', CALLS, (nth) => loadOutcome(database, at(nth)?.attempt_id));
    await timed('read an award', CALLS, (nth) => findAwardOfAttempt(database, at(nth)?.attempt_id));
    await timed('read a receipt by its id', CALLS, (nth) => findReceipt(database, at(nth)?.receipt_id));
    await timed('facts of a player in 20 challenges', CALLS, (nth) =>
      loadFactsOfAccount(
        database,
        contests.challengeIds.slice(0, 20),
        players[nth % players.length]?.account_id,
        new Date(),
      ),
    );
    const window = () => ({ from: new Date(Date.now() - 1000), until: new Date(), limit: 100 });
    await timed('sweep of pending attempts', CALLS, () => loadPending(database, 'challenge', window()));
    await timed('sweep of due attempts', CALLS, () => loadIdsDueToExpire(database, window().from, window().until, 100));
  };
}

async function walletTurn(postgres: EmbeddedPostgres, players: readonly Player[]): Promise<Turn> {
  const { postOptimisticFees } = await load('services/wallet/src/repository/optimistic-fees');
  const { payOptimistically } = await load('services/wallet/src/repository/optimistic-payouts');
  const { loadPaidFees, loadStoredFees, findFee } = await load('services/wallet/src/repository/fees');
  const { loadStatement, loadFeePayer } = await load('services/wallet/src/repository/statements');
  const { listChargedFees } = await load('services/wallet/src/repository/charged-fees');
  const { playerLedgerId } = await load('services/wallet/src/domain/ledger');
  const old = await withDatabase(postgres, 'wallet', async (client) => {
    const { rows } = await client.query<{ id: string; attempt_id: string }>(
      `select id, attempt_id from transfers where kind = 'fee' order by md5(id::text) limit 2000`,
    );
    return rows;
  });
  const at = (nth: number) => old[nth % old.length];
  const limits = { feeCents: UNLIMITED, payoutCents: UNLIMITED };
  let used = 0;
  const some = (count: number): Player[] => {
    const taken = Array.from({ length: count }, (_, index) => players[(used + index) % players.length] as Player);
    used += count;
    return taken;
  };
  return async (database, batch, timed) => {
    await timed('charge', CALLS, async () => {
      const fees = some(batch).map((player) => {
        const attemptId = newOwnedId('challenge');
        return {
          accountId: player.account_id,
          ledgerId: playerLedgerId(player.account_id, 'live'),
          eligibility: {
            dateOfBirth: player.date_of_birth,
            jurisdiction: 'US-CA',
            verificationLevel: 2,
            selfExcludedUntil: null,
            blocked: false,
            insider: false,
          },
          charge: {
            transferId: feeTransferId(attemptId),
            attemptId,
            programId: player.program_id,
            environment: 'live',
            playerRef: player.player_ref,
            feeCents: 1n,
          },
        };
      });
      const posted = await postOptimisticFees(database, fees, { now: new Date(), defaults: limits });
      if (posted.size !== batch) throw new Error(`${posted.size} of ${batch} fees were posted`);
    });
    await timed('pay', CALLS, async () => {
      const payouts = some(batch).map((player) => {
        const attemptId = newOwnedId('challenge');
        return {
          payment: {
            kind: 'award',
            attemptId,
            awardId: awardIdOf(attemptId, 'challenge'),
            programId: player.program_id,
            environment: 'live',
            accountId: player.account_id,
            amountCents: 1n,
          },
          mostRecent: { count: 1_000_000, amountCents: UNLIMITED },
        };
      });
      // No limit of the program applies: the time to add up all payouts of a turn would hide the
      // time of everything else.
      const paid = await payOptimistically(database, payouts, {
        now: new Date(),
        defaults: { ...limits, payoutCents: null },
      });
      if (paid.size !== batch) throw new Error(`${paid.size} of ${batch} payouts were paid`);
    });
    await timed('fees for a refund', CALLS, (nth) =>
      loadPaidFees(
        database,
        Array.from({ length: batch }, (_, index) => at(nth + index)?.id),
      ),
    );
    await timed('fees by id', CALLS, (nth) =>
      loadStoredFees(
        database,
        Array.from({ length: batch }, (_, index) => at(nth + index)?.id),
      ),
    );
    if (batch > 1) return;
    await timed('fee of an attempt', CALLS, (nth) => findFee(database, at(nth)?.attempt_id));
    await timed('payer of an attempt', CALLS, (nth) => loadFeePayer(database as never, at(nth)?.attempt_id));
    const ledgerOf = (nth: number) => playerLedgerId(players[nth % players.length]?.account_id, 'live');
    await timed('statement, 50 lines', CALLS, (nth) =>
      loadStatement(database, ledgerOf(nth), { beforeSeq: 9_000_000_000_000_000n, limit: 50 }),
    );
    await timed('charges of an account', CALLS, (nth) =>
      listChargedFees(database, players[nth % players.length]?.account_id ?? randomUUID(), {
        since: new Date(Date.now() - 86_400_000),
        limit: 20,
      }),
    );
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
