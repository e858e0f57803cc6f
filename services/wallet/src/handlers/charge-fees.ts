/** ChargeFees: the one decision of a paid attempt. A fee is posted, or its id is burnt with the refusal; both exactly once. */

import type { Coalescer } from '@laurel/coalesce';
import { DEFAULT_MESSAGE } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import { parseId, parseItems } from '@laurel/grpc';
import { type Database, isUniqueViolation } from '@laurel/postgres';
import type {
  ChargeFeesRequest,
  ChargeFeesResponse,
  FeeChargeResult,
  FeeCharge as WireFeeCharge,
} from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { decideFees, type FeeCharge, type FeeResult, mayPay } from '../domain/fee-decision.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import { createPlayerMemory, type PlayerMemory } from '../domain/player-memory.ts';
import type { StandingRules } from '../domain/standing.ts';
import { loadFeeFacts } from '../repository/fees.ts';
import { lockPlayers, writeChanges } from '../repository/ledger.ts';
import { postRememberedFees, type RememberedFee } from '../repository/remembered-fees.ts';
import { parseAmountAboveZero, parsePlayer, parseRequirement } from './parse.ts';
import { createTransferBatches } from './transfer-batches.ts';

type FeeCharges = Coalescer<FeeCharge, FeeResult>;

const remembered = counter(
  'laurel_wallet_remembered_fees_total',
  'Fees tried on what is remembered of their players.',
  ['outcome'],
);

type Charging = {
  readonly database: Database;
  readonly clock: Clock;
  readonly rules: StandingRules;
  readonly memory: PlayerMemory;
};

export function createFeeCharges(deps: Omit<Charging, 'memory'>): FeeCharges {
  const charging = { ...deps, memory: createPlayerMemory() };
  return createTransferBatches({
    name: 'charge_fees',
    idOf: (charge) => charge.transferId,
    keyOf: (charge) => ledgerIdOf(charge) ?? charge.transferId,
    run: (charges) => runCharges(charging, charges),
  });
}

/** Those who paid before and are in good standing pay in one statement; whoever that leaves out is decided upon in a transaction. */
async function runCharges(charging: Charging, charges: readonly FeeCharge[]): Promise<readonly FeeResult[]> {
  const posted = await postRemembered(charging, charges);
  const others = charges.filter((charge) => !posted.has(charge));
  const decided = others.length === 0 ? [] : await decideAnew(charging, others);
  const results = new Map([...posted, ...others.map((charge, index) => [charge, decided[index]] as const)]);
  return charges.map((charge) => {
    const result = results.get(charge);
    if (result === undefined) throw new Error(`the fee ${charge.transferId} was not decided`);
    return result;
  });
}

/** Posts what may be posted by what is remembered and still holds. Nothing is refused here. */
async function postRemembered(
  { database, clock, rules, memory }: Charging,
  charges: readonly FeeCharge[],
): Promise<ReadonlyMap<FeeCharge, FeeResult>> {
  const now = clock();
  const payers = charges.flatMap((charge): RememberedFee[] => {
    const player = memory.recall(charge);
    if (player === null || !mayPay(charge, player, { rules, now })) return [];
    return [{ ...player, charge, ledgerId: playerLedgerId(player.accountId, charge.environment) }];
  });
  if (payers.length === 0) return new Map();

  // The statement is its own transaction, so just before its commit means before it is sent.
  await failpoint('wallet.charge.before-commit');
  let paid: ReadonlySet<string>;
  try {
    paid = await postRememberedFees(database, payers, now);
  } catch (error) {
    // An id was decided before. Nothing of the batch is posted.
    if (!isUniqueViolation(error)) throw error;
    return new Map();
  }
  await failpoint('wallet.charge.after-commit');
  remembered.inc({ outcome: 'posted' }, paid.size);
  remembered.inc({ outcome: 'left' }, payers.length - paid.size);
  return new Map(
    payers.flatMap(({ charge, ledgerId }) => (paid.has(ledgerId) ? [[charge, { kind: 'posted', postedAt: now }]] : [])),
  );
}

/** One transaction: lock, load, decide, write. */
async function decideAnew(
  { database, clock, rules, memory }: Charging,
  charges: readonly FeeCharge[],
): Promise<readonly FeeResult[]> {
  const { results, facts } = await database.transaction(
    async (tx) => {
      // Both go out together; the second runs, and takes its snapshot, after the first has its locks.
      const [locked, facts] = await Promise.all([
        lockPlayers(
          tx,
          charges.flatMap((charge) => ledgerIdOf(charge) ?? []),
        ),
        loadFeeFacts(tx, charges),
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
    if (player !== null && results[index]?.kind === 'posted') memory.remember(charge, player);
    else memory.forget(charge);
  });
  await failpoint('wallet.charge.after-commit');
  return results;
}

export function chargeFees(charges: FeeCharges): (request: ChargeFeesRequest) => Promise<ChargeFeesResponse> {
  return async (request) => {
    const items = parseItems(request.charges).map(parseCharge);
    const results = await Promise.all(items.map((item) => charges.submit(item)));
    await failpoint('wallet.reply.before-send');
    return { results: results.map(presentResult) };
  };
}

function ledgerIdOf({ accountId, environment }: FeeCharge): string | null {
  return accountId === null ? null : playerLedgerId(accountId, environment);
}

function parseCharge(charge: WireFeeCharge): FeeCharge {
  return {
    ...parsePlayer(charge.player),
    transferId: parseId(charge.transferId),
    attemptId: parseId(charge.attemptId),
    accountId: charge.accountId === '' ? null : parseId(charge.accountId),
    feeCents: parseAmountAboveZero(charge.feeCents),
    requirement: parseRequirement(charge.requirement),
  };
}

function presentResult(result: FeeResult): FeeChargeResult {
  switch (result.kind) {
    case 'posted':
      return { result: { $case: 'posted', value: { postedAt: result.postedAt } } };
    case 'refused':
      return { result: { $case: 'refused', value: { code: result.code, message: DEFAULT_MESSAGE[result.code] } } };
    case 'moved':
      return { result: { $case: 'moved', value: { accountId: result.accountId ?? '' } } };
  }
}
