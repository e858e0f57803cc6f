/** ChargeFees: the one decision of a paid attempt. A fee is posted, or its id is burnt with the refusal; both exactly once. */

import type { Coalescer } from '@laurel/coalesce';
import { DEFAULT_MESSAGE } from '@laurel/errors';
import { failpoint } from '@laurel/failpoint';
import { parseId, parseItems } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type {
  ChargeFeesRequest,
  ChargeFeesResponse,
  FeeChargeResult,
  FeeCharge as WireFeeCharge,
} from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { decideFees, type FeeCharge, type FeeResult } from '../domain/fee-decision.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import type { StandingRules } from '../domain/standing.ts';
import { loadFeeFacts } from '../repository/fees.ts';
import { lockPlayers, writeChanges } from '../repository/ledger.ts';
import { parseAmountAboveZero, parsePlayer, parseRequirement } from './parse.ts';
import { createTransferBatches } from './transfer-batches.ts';

type FeeCharges = Coalescer<FeeCharge, FeeResult>;

export function createFeeCharges(deps: { database: Database; clock: Clock; rules: StandingRules }): FeeCharges {
  return createTransferBatches({
    name: 'charge_fees',
    idOf: (charge) => charge.transferId,
    keyOf: (charge) => ledgerIdOf(charge) ?? charge.transferId,
    run: (charges) => runCharges(deps, charges),
  });
}

/** One transaction: lock, load, decide, write. */
async function runCharges(
  { database, clock, rules }: { database: Database; clock: Clock; rules: StandingRules },
  charges: readonly FeeCharge[],
): Promise<readonly FeeResult[]> {
  const results = await database.transaction(
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
      return decision.results;
    },
    { beforeCommit: () => failpoint('wallet.charge.before-commit') },
  );
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
