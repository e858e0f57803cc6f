/**
 * Accounts, links, transfers and payouts in the wallet's database, in double entry: each player's
 * running balance follows from how often the player has paid and won before.
 */
import type pg from 'pg';
import { type Contests, idAtSql } from './contests.ts';
import { withoutIndexes } from './deferred-indexes.ts';
import { challengeAttemptsSql } from './fill-challenge.ts';
import { roundAttemptsSql, roundsSql } from './fill-tournament.ts';
import {
  accountCreatedMsSql,
  accountIdSql,
  derivedSql,
  digestSql,
  hashedSql,
  partsDigestSql,
  playerRefSql,
} from './ids.ts';
import {
  CHALLENGE_TURNS,
  ENTRANT_DEPOSIT_CENTS,
  FEE_CENTS,
  FEE_LIMIT_CENTS,
  instantSql,
  LARGE_PURSE_CENTS,
  LARGE_TURNS,
  PAID_AFTER_MS,
  PAYOUT_LIMIT_CENTS,
  PLAYER_DEPOSIT_CENTS,
  PRIZE_CENTS,
  PROGRAMS,
  PURSE_CENTS,
  prizesSql,
  ROUND_TURNS,
  type Shape,
  type Turn,
  turnsOfHistory,
} from './shape.ts';

/**
 * The house of the environment `live`, and its accounts. services/wallet/src/domain/ledger.ts
 * defines these ids.
 */
const HOUSE = '00000000-0000-8000-8000-000000000020';
const ACCOUNT = {
  house_fees: '00000000-0000-8000-8000-000000000021',
  house_prizes: '00000000-0000-8000-8000-000000000022',
  external_cash: '00000000-0000-8000-8000-000000000023',
  house_purses: '00000000-0000-8000-8000-000000000024',
};

/** The people, and what each has won in rounds so far. */
const makePeople = (shape: Shape) => `
  create temporary table people as
  select p, account_id, ${hashedSql(partsDigestSql(`'ledger'`, 'account_id::text', `'live'`))} as ledger_id, 0::bigint as purses_cents
  from (select p, ${accountIdSql(shape, 'p')} as account_id from generate_series(0, ${shape.accounts - 1}) as p offset 0) as named`;
const INDEX_PEOPLE = 'create unique index on people (p)';
/** What each program has paid so far. */
const MAKE_PAID = `
  create temporary table program_paid as select program, 0::bigint as cents from generate_series(0, ${PROGRAMS - 1}) as program`;

const fillAccounts = (shape: Shape) => `
  insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, created_at, house_id)
  select account_id, ${playerRefSql('p')} || '@example.com', date '1990-01-01' + p % 5000, 'US-CA', 2,
    ${instantSql(accountCreatedMsSql(shape, 'p'))}, '${HOUSE}'
  from people order by p`;

/** Links each player to one program, and every account to the first, which has the large round. */
const linksOf = (shape: Shape, { programIds }: Contests) => `
  select p, account_id, ${idAtSql(programIds, 'program')} as program_id
  from people cross join lateral (
    select 0 as program union select case when p < ${shape.players} then p % ${PROGRAMS} else 0 end
  ) as played`;
const fillPairs = (shape: Shape, contests: Contests) => `
  insert into program_accounts (program_id, account_id) select program_id, account_id from (${linksOf(shape, contests)}) as link order by p`;
const fillLinks = (shape: Shape, contests: Contests) => `
  insert into player_links (program_id, environment, player_ref, account_id, created_at, house_id)
  select program_id, 'live', ${playerRefSql('p')}, account_id, ${instantSql(`${accountCreatedMsSql(shape, 'p')} + 100`)}, '${HOUSE}'
  from (${linksOf(shape, contests)}) as link order by p`;

/** Inserts the lines of a query, which has the columns of `lineSql`, in the order of time. */
const insertLines = (lines: string) => `
  insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents,
    attempt_id, round_id, award_id, reference, house_id, created_at, program_id, program_limit_cents)
  select id, 'posted', kind, 'live', case kind when 'fee' then ledger_id else house_account_id end,
    case kind when 'fee' then house_account_id else ledger_id end, amount_cents, ledger_id, balance_cents, attempt_id, round_id, award_id,
    reference, '${HOUSE}', ${instantSql('at_ms')}, program_id, case kind when 'fee' then ${FEE_LIMIT_CENTS} end
  from (${lines}) as line
  order by at_ms`;

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly account: keyof typeof ACCOUNT;
  readonly amount: string | number;
  readonly balance: string;
  readonly at: string;
  readonly attempt?: string;
  readonly round?: string;
  readonly award?: string;
  readonly reference?: string;
  readonly program?: string;
}

/** Returns SQL for the columns of a line of the ledger; the row has the player's `ledger_id`. */
function lineSql(line: Line): string {
  return `${line.id} as id, '${line.kind}' as kind, '${ACCOUNT[line.account]}'::uuid as house_account_id, ledger_id,
    (${line.amount})::bigint as amount_cents, (${line.balance})::bigint as balance_cents, ${line.attempt ?? 'null::uuid'} as attempt_id,
    ${line.round ?? 'null::uuid'} as round_id, ${line.award ?? 'null::uuid'} as award_id, ${line.reference ?? 'null::text'} as reference,
    ${line.at} as at_ms, ${line.program ?? 'null::uuid'} as program_id`;
}

const depositLine = (shape: Shape, cents: number) =>
  lineSql({
    id: hashedSql(partsDigestSql(`'deposit'`, 'ledger_id::text', `'top-up-' || p`)),
    kind: 'deposit',
    account: 'external_cash',
    amount: cents,
    balance: String(cents),
    reference: `'top-up-' || p`,
    at: `${accountCreatedMsSql(shape, 'p')} + 1000`,
  });

/** The fee of an attempt; the row has the `balance_cents` before it. */
const feeLine = ({ programIds }: Contests) =>
  lineSql({
    id: derivedSql('id_text', digestSql('id_text', 'fee')),
    kind: 'fee',
    account: 'house_fees',
    amount: FEE_CENTS,
    balance: `balance_cents - ${FEE_CENTS}`,
    attempt: 'id',
    at: 'ms',
    program: idAtSql(programIds, 'program'),
  });

/**
 * Returns SQL for an account's balance before a turn: a player's account, or one that enters only
 * the large round.
 */
function balanceSql(shape: Shape, turn: Turn, paid: 0 | 1): string {
  return `(case when p < ${shape.players}
    then ${PLAYER_DEPOSIT_CENTS - (turn.feesBefore + paid) * FEE_CENTS} + ${prizesSql(turn.challengesBefore)} * ${PRIZE_CENTS} + purses_cents
    else ${ENTRANT_DEPOSIT_CENTS - paid * FEE_CENTS} end)::bigint`;
}

/**
 * Returns SQL that inserts the payouts of `won`, in order. Each row of `won` has the total that its
 * program has paid, this payout included.
 */
const insertPayouts = ({ programIds }: Contests, ofAward: boolean) => `
  insert into payouts (award_id, attempt_id, round_id, program_id, environment, account_id, amount_cents, status, transfer_id, created_at,
    paid_at, program_limit_cents, program_paid_cents)
  select award_id, ${ofAward ? 'id, null' : 'null, round_id'}, ${idAtSql(programIds, 'program')}, 'live', account_id, amount_cents, 'paid',
    transfer_id, ${instantSql('paid_ms')}, ${instantSql('paid_ms')}, ${ofAward ? PAYOUT_LIMIT_CENTS : 'null'}, program_paid_cents
  from won order by paid_ms`;

const ADD_PAID = `
  update program_paid set cents = program_paid.cents + summed.cents
  from (select program, sum(amount_cents) as cents from won group by program) as summed where summed.program = program_paid.program`;

const fillChallengeTurn = (shape: Shape, contests: Contests, turn: Turn) => `
  with play as materialized (
    select attempt.*, ledger_id, ${balanceSql(shape, turn, 0)} as balance_cents
    from (${challengeAttemptsSql(shape, contests, turn)}) as attempt join people using (p)
  ),
  won as materialized (
    select play.*, ${PRIZE_CENTS} as amount_cents, settled_ms as paid_ms,
      ${derivedSql('award_id::text', digestSql('award_id::text', 'payout'))} as transfer_id,
      cents + ${PRIZE_CENTS} * row_number() over (partition by program order by settled_ms, i) as program_paid_cents
    from play join program_paid using (program) where wins
  ),
  posted as (
    ${insertLines(`
      select ${feeLine(contests)} from play
      union all
      select ${lineSql({
        id: 'transfer_id',
        kind: 'award',
        account: 'house_prizes',
        amount: 'amount_cents',
        balance: `balance_cents - ${FEE_CENTS} + amount_cents`,
        attempt: 'id',
        award: 'award_id',
        at: 'paid_ms',
      })} from won`)}
  ),
  paid as (${insertPayouts(contests, true)})
  ${ADD_PAID}`;

const fillRoundTurn = (shape: Shape, contests: Contests, turn: Turn) => `
  with play as materialized (
    select attempt.*, ledger_id, ${balanceSql(shape, turn, 0)} as balance_cents
    from (${roundAttemptsSql(shape, turn)}) as attempt join people using (p)
  )
  ${insertLines(
    turn.kind === 'large'
      ? `select ${depositLine(shape, ENTRANT_DEPOSIT_CENTS)} from play where p >= ${shape.players} union all select ${feeLine(contests)} from play`
      : `select ${feeLine(contests)} from play`,
  )}`;

/** Pays the purses of a turn's rounds, or of the large round after its turns. `$1` is the purse. */
const payPurses = (shape: Shape, contests: Contests, turns: readonly Turn[]) => `
  with placed as materialized (
    ${turns
      .map(
        (turn) => `
      select p, i, program, place, round_id, account_id, ledger_id, ${balanceSql(shape, turn, 1)} as balance_cents
      from (${roundAttemptsSql(shape, turn)}) as attempt join people using (p, account_id)
      where place < cardinality($1::bigint[])`,
      )
      .join('\n      union all')}
  ),
  awarded as materialized (
    select placed.*, closes_ms + ${PAID_AFTER_MS} as paid_ms, ($1::bigint[])[1 + place] as amount_cents,
      ${derivedSql('round_id::text', digestSql('round_id::text', `rank:' || (place + 1) || '`), '2')} as award_id
    from placed join (${roundsSql(shape, turns[0] as Turn)}) as round on round.id = placed.round_id
  ),
  won as materialized (
    select awarded.*, ${derivedSql('award_id::text', digestSql('award_id::text', 'payout'))} as transfer_id,
      cents + sum(amount_cents) over (partition by program order by paid_ms, place) as program_paid_cents
    from awarded join program_paid using (program)
  ),
  posted as (
    ${insertLines(`
      select ${lineSql({
        id: 'transfer_id',
        kind: 'purse',
        account: 'house_purses',
        amount: 'amount_cents',
        balance: 'balance_cents + amount_cents',
        round: 'round_id',
        award: 'award_id',
        at: 'paid_ms',
      })} from won`)}
  ),
  paid as (${insertPayouts(contests, false)}),
  kept as (update people set purses_cents = people.purses_cents + won.amount_cents from won where won.p = people.p)
  ${ADD_PAID}`;

const fillLedgerAccounts = (shape: Shape) => `
  insert into ledger_accounts (id, kind, environment, account_id, balance_cents, house_id)
  select ledger_id, 'player', 'live', account_id, purses_cents + case when p < ${shape.players}
      then ${PLAYER_DEPOSIT_CENTS - (CHALLENGE_TURNS + ROUND_TURNS + 1) * FEE_CENTS} + ${prizesSql(CHALLENGE_TURNS)} * ${PRIZE_CENTS}
      else ${ENTRANT_DEPOSIT_CENTS - FEE_CENTS} end, '${HOUSE}'
  from people order by p`;

/** Books every fee and payout on its house too, the other side of the player's ledger. */
const BALANCE_HOUSE = `
  update ledger_accounts as house set balance_cents = house.balance_cents + moved.cents
  from (
    select case kind when 'fee' then credit_id else debit_id end as id,
      sum(case kind when 'fee' then amount_cents else -amount_cents end)::bigint as cents
    from transfers group by 1
  ) as moved
  where moved.id = house.id`;

const fillLimits = ({ programIds }: Contests) => `
  insert into program_limits (program_id, environment, paid_cents) select ${idAtSql(programIds, 'program')}, 'live', cents from program_paid
  on conflict (program_id, environment) do update set paid_cents = excluded.paid_cents`;

/** Lets the wallet count the days of money again: it has counted them on an empty ledger. */
const COUNT_DAYS_AGAIN = `update day_counts set open_from = '1970-01-01', counted_at = null, next_run_at = now()`;

const FILLED = ['accounts', 'program_accounts', 'player_links', 'ledger_accounts', 'transfers', 'payouts'];

export async function fillWallet(client: pg.Client, shape: Shape, contests: Contests): Promise<void> {
  await client.query(makePeople(shape));
  await client.query(INDEX_PEOPLE);
  await client.query(MAKE_PAID);
  await client.query('analyze people');
  await withoutIndexes(client, FILLED, async () => {
    await client.query(fillAccounts(shape));
    await client.query(fillPairs(shape, contests));
    await client.query(fillLinks(shape, contests));
    await client.query(
      insertLines(`select ${depositLine(shape, PLAYER_DEPOSIT_CENTS)} from people where p < ${shape.players}`),
    );
    const turns = turnsOfHistory();
    const largeTurns = turns.filter(({ kind }) => kind === 'large');
    for (const turn of turns) {
      if (turn.kind === 'challenge') {
        await client.query(fillChallengeTurn(shape, contests, turn));
        continue;
      }
      await client.query(fillRoundTurn(shape, contests, turn));
      if (turn.kind === 'round') await client.query(payPurses(shape, contests, [turn]), [PURSE_CENTS]);
      else if (turn.nth === LARGE_TURNS - 1) {
        await client.query(payPurses(shape, contests, largeTurns), [LARGE_PURSE_CENTS]);
      }
    }
    await client.query(fillLedgerAccounts(shape));
  });
  await client.query(BALANCE_HOUSE);
  await client.query(fillLimits(contests));
  await client.query(COUNT_DAYS_AGAIN);
}
