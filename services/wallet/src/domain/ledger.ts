/**
 * The ledger is double entry and append-only. One transfer is one balanced entry between a player's ledger account and a house
 * account of the same environment; which house account, and in which direction, follows from the transfer's kind alone:
 *
 *   fee      player         -> house fees
 *   refund   house fees     -> player
 *   award    house prizes   -> player
 *   purse    house purses   -> player
 *   deposit  external cash  -> player
 *
 * A player's balance is never below zero. The house may overdraw. Therefore all balances of one environment always sum to zero.
 * A fence burns the id of a fee: nothing can be posted under that id any more.
 */
import { hashId } from '@laurel/ids';
import { type Cents, cents } from '@laurel/money';

export type Environment = 'test' | 'live';
export type TransferKind = 'fee' | 'refund' | 'award' | 'purse' | 'deposit';
const REFUND_REASONS = ['expired', 'round_closed', 'round_cancelled', 'voided'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];
/** The refusals that burn a fee's id. */
export type FeeRefusalCode = 'blocked' | 'insider_entry' | 'insufficient_funds';
export type HouseKind = 'house_fees' | 'house_prizes' | 'house_purses' | 'external_cash';

/** The same ids as the rows that the migrations 0002 and 0004 insert. */
const HOUSE_ID: Record<Environment, Record<HouseKind, string>> = {
  test: {
    house_fees: '00000000-0000-8000-8000-000000000011',
    house_prizes: '00000000-0000-8000-8000-000000000012',
    house_purses: '00000000-0000-8000-8000-000000000014',
    external_cash: '00000000-0000-8000-8000-000000000013',
  },
  live: {
    house_fees: '00000000-0000-8000-8000-000000000021',
    house_prizes: '00000000-0000-8000-8000-000000000022',
    house_purses: '00000000-0000-8000-8000-000000000024',
    external_cash: '00000000-0000-8000-8000-000000000023',
  },
};

const HOUSE_OF: Record<TransferKind, HouseKind> = {
  fee: 'house_fees',
  refund: 'house_fees',
  award: 'house_prizes',
  purse: 'house_purses',
  deposit: 'external_cash',
};

export function isRefundReason(text: string): text is RefundReason {
  return REFUND_REASONS.some((reason) => reason === text);
}

export function houseLedgerId(kind: HouseKind, environment: Environment): string {
  return HOUSE_ID[environment][kind];
}

/** A player's ledger account: one per account and environment, so test and live money never share one. */
export function playerLedgerId(accountId: string, environment: Environment): string {
  return hashId('ledger', accountId.toLowerCase(), environment);
}

/** A player's row of the ledger, as it was locked. */
export type PlayerLedger = {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly balanceCents: Cents;
  readonly holdNextAward: boolean;
};

type EntryDetails =
  | { readonly kind: 'fee'; readonly attemptId: string }
  | {
      readonly kind: 'refund';
      readonly attemptId: string;
      readonly feeTransferId: string;
      readonly reason: RefundReason;
    }
  | { readonly kind: 'award'; readonly attemptId: string; readonly awardId: string }
  | { readonly kind: 'purse'; readonly roundId: string; readonly awardId: string }
  | { readonly kind: 'deposit'; readonly reference: string };

/** A transfer that is still to be entered. */
export type Entry = EntryDetails & { readonly id: string; readonly ledgerId: string; readonly amountCents: Cents };

/** A transfer as it is written. */
export type Transfer = {
  readonly state: 'posted';
  readonly id: string;
  readonly details: EntryDetails;
  readonly environment: Environment;
  readonly debitId: string;
  readonly creditId: string;
  readonly amountCents: Cents;
  readonly ledgerId: string;
  readonly balanceAfterCents: Cents;
};

/** A burnt id; without a refusal when the fee was given up unheard. */
export type Fence = {
  readonly state: 'fenced';
  readonly id: string;
  readonly environment: Environment | null;
  readonly attemptId: string | null;
  readonly refusalCode: FeeRefusalCode | null;
};

export type HouseChange = {
  readonly id: string;
  readonly kind: HouseKind;
  readonly environment: Environment;
  readonly deltaCents: Cents;
};

/** What a batch leaves to be written. */
export type LedgerChanges = {
  /** In the order in which they were entered, which is the order of each player's running balance. */
  readonly lines: readonly (Transfer | Fence)[];
  readonly players: readonly PlayerLedger[];
  readonly house: readonly HouseChange[];
};

/** Running balances of one batch over rows that are locked. Every entry is seen by the entries after it. */
export interface Book {
  /** A player without a row of the ledger has a balance of zero. */
  balanceCents(ledgerId: string): Cents;
  holdsNextAward(ledgerId: string): boolean;
  /** Enters a transfer; the caller has checked that the player can pay it. */
  post(entry: Entry): Transfer;
  fence(fence: Omit<Fence, 'state'>): void;
  /** Uses the sandbox switch up. */
  releaseNextAward(ledgerId: string): void;
  changes(): LedgerChanges;
}

export function openBook(locked: readonly PlayerLedger[]): Book {
  const players = new Map(locked.map((row) => [row.id, row]));
  const changed = new Set<string>();
  const house = new Map<string, HouseChange>();
  const lines: (Transfer | Fence)[] = [];

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
      const { environment } = row;
      const kind = HOUSE_OF[details.kind];
      const houseId = houseLedgerId(kind, environment);
      const deltaCents = details.kind === 'fee' ? -amountCents : amountCents;
      const balanceAfterCents = cents(row.balanceCents + deltaCents);
      if (amountCents <= 0n) throw new Error(`transfer ${id} moves nothing`);
      if (balanceAfterCents < 0n) throw new Error(`transfer ${id} overdraws ${ledgerId}`);

      change({ ...row, balanceCents: balanceAfterCents });
      const before = house.get(houseId)?.deltaCents ?? 0n;
      house.set(houseId, { id: houseId, kind, environment, deltaCents: cents(before - deltaCents) });
      const transfer: Transfer = {
        state: 'posted',
        id,
        details,
        environment,
        debitId: details.kind === 'fee' ? ledgerId : houseId,
        creditId: details.kind === 'fee' ? houseId : ledgerId,
        amountCents,
        ledgerId,
        balanceAfterCents,
      };
      lines.push(transfer);
      return transfer;
    },
    fence: (fence) => void lines.push({ state: 'fenced', ...fence }),
    releaseNextAward: (ledgerId) => change({ ...rowOf(ledgerId), holdNextAward: false }),
    changes: () => ({
      lines,
      players: [...changed].map(rowOf),
      house: [...house.values()],
    }),
  };
}
