/**
 * The ledger is double entry and append-only. A posting is one balanced transfer between a player's
 * ledger account and an account of the house that the player plays with. The transfer's kind
 * decides which account of the house, and the direction:
 *
 *   fee      player         -> house fees
 *   refund   house fees     -> player
 *   award    house prizes   -> player
 *   purse    house purses   -> player
 *   deposit  external cash  -> player
 *
 * Live has one house. In test each program has its own house, and only the program's sandbox
 * accounts play with it. So play money never moves between programs. A player's balance is never
 * below zero; a house may overdraw. The balances of a house and its players always sum to zero.
 * A tombstone closes the id of a fee: nothing can be posted under it.
 */
import type { RefundReason } from '@laurel/attempts/domain';
import { hashId } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';

export type TransferKind = 'fee' | 'refund' | 'award' | 'purse' | 'deposit';
/** The refusals that leave a tombstone under a fee's id. */
export type FeeRefusalCode = 'blocked' | 'insider_entry' | 'insufficient_funds';
export type HouseKind = 'house_fees' | 'house_prizes' | 'house_purses' | 'external_cash';

/** The house of real people and real money. The migrations write the same ids. */
export const LIVE_HOUSE = '00000000-0000-8000-8000-000000000020';
/**
 * The house that all programs shared in test before each program had its own. It only pays what it
 * still owes.
 */
export const SHARED_SANDBOX = '00000000-0000-8000-8000-000000000010';

/**
 * The id of a house's account is the house's id with another last digit, so that a constraint can
 * derive it.
 */
export const HOUSE_DIGIT: Record<HouseKind, string> = {
  house_fees: '1',
  house_prizes: '2',
  external_cash: '3',
  house_purses: '4',
};

const HOUSE_OF: Record<TransferKind, HouseKind> = {
  fee: 'house_fees',
  refund: 'house_fees',
  award: 'house_prizes',
  purse: 'house_purses',
  deposit: 'external_cash',
};

/** The house of a program's players: in live the shared one, in test the program's own. */
export function houseOf({ environment, programId }: { environment: Environment; programId: string }): string {
  return environment === 'live' ? LIVE_HOUSE : programId.toLowerCase();
}

/** The environment of the house. */
export function environmentOf(houseId: string): Environment {
  return houseId === LIVE_HOUSE ? 'live' : 'test';
}

export function houseLedgerId(kind: HouseKind, houseId: string): string {
  return houseId.slice(0, -1) + HOUSE_DIGIT[kind];
}

/**
 * A player's ledger account: one per account and environment, so that test and live money never
 * mix.
 */
export function playerLedgerId(accountId: string, environment: Environment): string {
  return hashId('ledger', accountId.toLowerCase(), environment);
}

/** A player's row of the ledger, as read under its lock. */
export type PlayerLedger = {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly houseId: string;
  readonly balanceCents: Cents;
  readonly holdNextAward: boolean;
};

type TransferDetails =
  | {
      readonly kind: 'fee';
      readonly attemptId: string;
      readonly programId: string;
      /** The program's fee limit at the time of the charge; null for none. */
      readonly programLimitCents: Cents | null;
    }
  | {
      readonly kind: 'refund';
      readonly attemptId: string;
      readonly feeTransferId: string;
      readonly reason: RefundReason;
    }
  | { readonly kind: 'award'; readonly attemptId: string; readonly awardId: string }
  | { readonly kind: 'purse'; readonly roundId: string; readonly awardId: string }
  /** The attempt is the one that the deposit compensates for, if any. */
  | { readonly kind: 'deposit'; readonly reference: string; readonly attemptId?: string };

/** A transfer that is not in the book yet. */
export type Posting = TransferDetails & { readonly id: string; readonly ledgerId: string; readonly amountCents: Cents };

/** A transfer as it is written to the database. */
export type Transfer = {
  readonly state: 'posted';
  readonly id: string;
  readonly details: TransferDetails;
  readonly environment: Environment;
  readonly houseId: string;
  readonly debitId: string;
  readonly creditId: string;
  readonly amountCents: Cents;
  readonly ledgerId: string;
  readonly balanceAfterCents: Cents;
};

/**
 * A tombstone. It has no refusal code if the contest service abandoned the attempt before its
 * charge arrived.
 */
export type Tombstone = {
  readonly state: 'tombstone';
  readonly id: string;
  readonly environment: Environment | null;
  readonly attemptId: string | null;
  readonly refusalCode: FeeRefusalCode | null;
};

export type HouseChange = {
  readonly id: string;
  readonly kind: HouseKind;
  readonly houseId: string;
  readonly deltaCents: Cents;
};

/** The changes of a batch, to be written. */
export type LedgerChanges = {
  /** In the order of posting, which is the order of each player's running balance. */
  readonly lines: readonly (Transfer | Tombstone)[];
  readonly players: readonly PlayerLedger[];
  readonly house: readonly HouseChange[];
};

/** The running balances of one batch over locked rows. Every posting sees those before it. */
export interface Book {
  /** The balance of a player without a row of the ledger is zero. */
  balanceCents(ledgerId: string): Cents;
  holdsNextAward(ledgerId: string): boolean;
  /** Posts a transfer; the caller has checked that the player can pay it. */
  post(posting: Posting): Transfer;
  /** Makes an id unusable: nothing can be posted under it. */
  putTombstone(tombstone: Omit<Tombstone, 'state'>): void;
  /** Turns off the sandbox's "hold the next award", because a payout has just used it. */
  releaseNextAward(ledgerId: string): void;
  changes(): LedgerChanges;
}

export function openBook(locked: readonly PlayerLedger[]): Book {
  const players = new Map(locked.map((row) => [row.id, row]));
  const changed = new Set<string>();
  const house = new Map<string, HouseChange>();
  const lines: (Transfer | Tombstone)[] = [];

  function rowOf(ledgerId: string): PlayerLedger {
    const row = players.get(ledgerId);
    if (row === undefined) throw new Error(`ledger account ${ledgerId} is not locked`);
    return row;
  }

  function change(row: PlayerLedger): void {
    players.set(row.id, row);
    changed.add(row.id);
  }

  return {
    balanceCents: (ledgerId) => players.get(ledgerId)?.balanceCents ?? cents(0n),
    holdsNextAward: (ledgerId) => players.get(ledgerId)?.holdNextAward ?? false,
    post({ id, ledgerId, amountCents, ...details }) {
      const row = rowOf(ledgerId);
      const { environment, houseId } = row;
      const kind = HOUSE_OF[details.kind];
      const houseLedger = houseLedgerId(kind, houseId);
      const deltaCents = details.kind === 'fee' ? -amountCents : amountCents;
      const balanceAfterCents = cents(row.balanceCents + deltaCents);
      if (amountCents <= 0n) throw new Error(`transfer ${id} moves nothing`);
      if (balanceAfterCents < 0n) throw new Error(`transfer ${id} overdraws ${ledgerId}`);

      change({ ...row, balanceCents: balanceAfterCents });
      const before = house.get(houseLedger)?.deltaCents ?? 0n;
      house.set(houseLedger, { id: houseLedger, kind, houseId, deltaCents: cents(before - deltaCents) });
      const transfer: Transfer = {
        state: 'posted',
        id,
        details,
        environment,
        houseId,
        debitId: details.kind === 'fee' ? ledgerId : houseLedger,
        creditId: details.kind === 'fee' ? houseLedger : ledgerId,
        amountCents,
        ledgerId,
        balanceAfterCents,
      };
      lines.push(transfer);
      return transfer;
    },
    putTombstone: (tombstone) => void lines.push({ state: 'tombstone', ...tombstone }),
    releaseNextAward: (ledgerId) => change({ ...rowOf(ledgerId), holdNextAward: false }),
    changes: () => ({
      lines,
      players: [...changed].map(rowOf),
      house: [...house.values()],
    }),
  };
}
