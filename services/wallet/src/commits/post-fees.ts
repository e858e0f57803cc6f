/**
 * The commit of ChargeFees, for a batch of charges: each fee is posted, or refused with a tombstone
 * under its id.
 *
 * First, one optimistic statement posts the fees of players whom the cache has as eligible. It
 * never refuses a fee. Then a transaction locks the players of the remaining charges and decides
 * these charges. Only the transaction refuses fees and fills the cache (decision 9).
 */
import { type Coalescer, runOptimisticBatch } from '@laurel/coalesce';
import { type Database, isUniqueViolation } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { type Counter, counter } from '@laurel/telemetry';
import type { EligibilityRules } from '../domain/eligibility.ts';
import { decideFees, type FeeCharge, type FeeResult, mayPay } from '../domain/fee-decision.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import { failpoint } from '../failpoints.ts';
import { loadFeeFacts } from '../repository/fees.ts';
import { lockPlayers, writeChanges } from '../repository/ledger.ts';
import { type OptimisticFee, postOptimisticFees } from '../repository/optimistic-fees.ts';
import { createPlayerCache, type PlayerCache } from '../repository/player-cache.ts';
import { createTransferBatches } from './transfer-batches.ts';

export type FeeChargeBatches = Coalescer<FeeCharge, FeeResult>;

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly rules: EligibilityRules;
  readonly defaults: DefaultLimits;
};
type CachingDeps = Deps & { readonly players: PlayerCache; readonly countTried: Counter<'outcome'> };

export function createFeeChargeBatches(deps: Deps): FeeChargeBatches {
  const countTried = counter(
    'laurel_wallet_optimistic_fees_total',
    'Fees tried on what is cached of their players: posted, or left to the transaction under lock.',
    ['outcome'],
  );
  const caching = { ...deps, players: createPlayerCache(), countTried };
  return createTransferBatches<FeeCharge, FeeResult>({
    name: 'charge_fees',
    idOf: (charge) => charge.transferId,
    keyOf: (charge) => ledgerIdOf(charge) ?? charge.transferId,
    environmentOf: ({ environment }) => environment,
    run: (batch) =>
      runOptimisticBatch<FeeCharge, FeeResult>(batch, {
        optimistic: (charges) => postOptimistically(charges, caching),
        underLock: (charges) => decideUnderLock(charges, caching),
      }),
  });
}

/**
 * Posts the fees that the cache permits and whose cached facts still hold. Returns null for every
 * other charge.
 */
async function postOptimistically(
  charges: readonly FeeCharge[],
  { database, clock, rules, defaults, players, countTried }: CachingDeps,
): Promise<readonly (FeeResult | null)[]> {
  const now = clock();
  const fees = charges.map((charge): OptimisticFee | null => {
    const player = players.get(charge);
    if (player === null || !mayPay(charge, player, { rules, now })) return null;
    return { ...player, charge, ledgerId: playerLedgerId(player.accountId, charge.environment) };
  });
  const tried = fees.filter((fee) => fee !== null);
  if (tried.length === 0) return charges.map(() => null);

  // The statement is its own transaction, so the failpoint before its commit comes before it is
  // sent.
  await failpoint('wallet.charge.before-commit');
  let paid: ReadonlySet<string>;
  try {
    paid = await postOptimisticFees(database, tried, { now, defaults });
  } catch (error) {
    // An id was decided earlier, so the statement failed and posted nothing.
    if (!isUniqueViolation(error)) throw error;
    return charges.map(() => null);
  }
  await failpoint('wallet.charge.after-commit');
  countTried.inc({ outcome: 'posted' }, paid.size);
  countTried.inc({ outcome: 'left' }, tried.length - paid.size);
  return fees.map((fee) => (fee !== null && paid.has(fee.ledgerId) ? { kind: 'posted', postedAt: now } : null));
}

/** Runs one transaction: locks, loads, decides, writes. */
async function decideUnderLock(
  charges: readonly FeeCharge[],
  { database, clock, rules, defaults, players }: CachingDeps,
): Promise<readonly FeeResult[]> {
  const { results, facts } = await database.transaction(
    async (tx) => {
      // Both statements are sent together; the second takes its snapshot after the first has its
      // locks.
      const [locked, facts] = await Promise.all([
        lockPlayers(
          tx,
          charges.flatMap((charge) => ledgerIdOf(charge) ?? []),
        ),
        // The time is read before the wait for the locks, so the window begins a little early. It
        // may count a fee too many, but never a fee too few.
        loadFeeFacts(tx, charges, { now: clock(), defaults }),
      ]);
      const now = clock();
      const decision = decideFees({ charges, facts, locked, rules, now });
      await tx.commitWith((last) => writeChanges(last, decision.changes, now));
      return { results: decision.results, facts };
    },
    { beforeCommit: () => failpoint('wallet.charge.before-commit') },
  );
  charges.forEach((charge, index) => {
    const player = facts[index]?.player ?? null;
    if (player !== null && results[index]?.kind === 'posted') players.put(charge, player);
    else players.evict(charge);
  });
  await failpoint('wallet.charge.after-commit');
  return results;
}

function ledgerIdOf({ accountId, environment }: FeeCharge): string | null {
  return accountId === null ? null : playerLedgerId(accountId, environment);
}
