-- A house is who stands opposite the players: four accounts of the ledger (fees, prizes, purses, external cash), and the people who play
-- with it. Live has one house, for real people. In test each program has its own, whose id is the program's, for sandbox accounts that
-- no other program sees. A row that names a person's money names its house too, so that foreign keys keep one program's sandbox from another's,
-- and both from live. What is replaced here is validated by 0010, without blocking writes.

create table houses (
  id uuid not null,
  environment text not null,
  constraint houses_pkey primary key (id),
  -- Referenced by ledger_accounts, so that an account cannot be of another environment than its house.
  constraint houses_id_environment_key unique (id, environment),
  constraint houses_environment_is_known check (environment in ('test', 'live')),
  constraint houses_one_is_live check ((environment = 'live') = (id = '00000000-0000-8000-8000-000000000020'))
);

-- The ids of a house's accounts are its own with another last digit (src/domain/ledger.ts).
create unique index houses_share_no_account on houses (left(id::text, 35));

insert into houses (id, environment) values
  ('00000000-0000-8000-8000-000000000020', 'live'),
  -- The sandbox that all programs shared until now. It takes in nothing more; what it still owes can be paid.
  ('00000000-0000-8000-8000-000000000010', 'test');

-- People. A constant default is no pass over the table: every account is a real person's, except the sandbox's.

alter table accounts add column house_id uuid not null default '00000000-0000-8000-8000-000000000020';

create temporary table sandbox_accounts on commit drop as
select accounts.id, coalesce(
  case when count(distinct player_links.program_id) = 1 then (array_agg(player_links.program_id))[1] end,
  '00000000-0000-8000-8000-000000000010'
) as house_id
from accounts
left join player_links on player_links.account_id = accounts.id
where accounts.sandbox_only
group by accounts.id;

insert into houses (id, environment) select distinct house_id, 'test' from sandbox_accounts on conflict (id) do nothing;

update accounts set house_id = sandbox_accounts.house_id from sandbox_accounts where sandbox_accounts.id = accounts.id;

-- Unique addresses among real people, and among the sandbox accounts of one program. Two indexes over the people there are, a second for
-- a million: each migration is one transaction, which rules `concurrently` out.
alter table accounts
  alter column house_id drop default,
  -- The house says it.
  -- squawk-ignore ban-drop-column
  drop column sandbox_only,
  drop constraint accounts_email_key,
  -- squawk-ignore disallowed-unique-constraint, constraint-missing-not-valid
  add constraint accounts_house_email_key unique (house_id, email),
  -- Referenced by links and accounts of the ledger, so that they cannot name a person of another house.
  -- squawk-ignore disallowed-unique-constraint, constraint-missing-not-valid
  add constraint accounts_id_house_key unique (id, house_id),
  add constraint accounts_house_id_fkey foreign key (house_id) references houses (id) not valid;

-- Links. In test a ref could name anybody, real people included: what no key may link any more is unlinked.

delete from player_links using accounts
where accounts.id = player_links.account_id
  and accounts.house_id <> case player_links.environment
    when 'live' then '00000000-0000-8000-8000-000000000020'::uuid else player_links.program_id end;

-- A person as one program knows them. A link names this row with severed = false, so that no link of a severed pair can be there: to
-- sever is to change what links refer to, which waits for links that are about to commit, and makes later ones fail.
create table program_accounts (
  program_id uuid not null,
  account_id uuid not null,
  severed boolean not null default false,
  severed_at timestamptz(3),
  constraint program_accounts_pkey primary key (program_id, account_id),
  constraint program_accounts_severed_key unique (program_id, account_id, severed),
  constraint program_accounts_account_id_fkey foreign key (account_id) references accounts (id),
  constraint program_accounts_severed_iff_severed_at check (severed = (severed_at is not null))
);

-- An operator's list of what is severed for a person.
create index program_accounts_account_id_idx on program_accounts (account_id);

insert into program_accounts (program_id, account_id) select distinct program_id, account_id from player_links;

alter table player_links
  add column house_id uuid not null default '00000000-0000-8000-8000-000000000020',
  add column severed boolean not null default false;

update player_links set house_id = program_id where environment = 'test';

alter table player_links
  alter column house_id drop default,
  drop constraint player_links_account_id_fkey,
  add constraint player_links_house_follows_environment check (
    house_id = case environment when 'live' then '00000000-0000-8000-8000-000000000020'::uuid else program_id end
  ) not valid,
  add constraint player_links_never_severed check (not severed) not valid,
  add constraint player_links_person_plays_with_the_house
    foreign key (account_id, house_id) references accounts (id, house_id) not valid,
  add constraint player_links_pair_is_not_severed
    foreign key (program_id, account_id, severed) references program_accounts (program_id, account_id, severed) not valid;

-- Accounts of the ledger. A sandbox account of one program changes over to that program's house with its balance, because no other program
-- had its play money; a real person's play money stays where it is.

alter table ledger_accounts add column house_id uuid not null default '00000000-0000-8000-8000-000000000020';

update ledger_accounts set house_id = '00000000-0000-8000-8000-000000000010' where environment = 'test';

update ledger_accounts set house_id = sandbox_accounts.house_id
from sandbox_accounts
where sandbox_accounts.id = ledger_accounts.account_id and ledger_accounts.environment = 'test';

-- squawk-ignore require-concurrent-index-deletion
drop index ledger_accounts_one_house_account_per_kind;
-- squawk-ignore require-concurrent-index-creation
create unique index ledger_accounts_one_house_account_per_kind on ledger_accounts (house_id, kind) where kind <> 'player';

insert into ledger_accounts (id, kind, environment, house_id, may_overdraw)
select overlay(houses.id::text placing account.digit from 36 for 1)::uuid, account.kind, 'test', houses.id, true
from houses
cross join (
  values ('1', 'house_fees'), ('2', 'house_prizes'), ('3', 'external_cash'), ('4', 'house_purses')
) as account (digit, kind)
where houses.id not in ('00000000-0000-8000-8000-000000000010', '00000000-0000-8000-8000-000000000020');

alter table ledger_accounts
  alter column house_id drop default,
  -- Referenced by transfers. The row of a balance never changes these, so its updates stay heap-only.
  -- squawk-ignore disallowed-unique-constraint, constraint-missing-not-valid
  add constraint ledger_accounts_id_house_key unique (id, house_id),
  add constraint ledger_accounts_house_is_of_the_environment
    foreign key (house_id, environment) references houses (id, environment) not valid,
  -- Holds for every row from now on. It is never validated: the play money that real people had before breaks it, and is kept.
  add constraint ledger_accounts_person_plays_with_the_house
    foreign key (account_id, house_id) references accounts (id, house_id) not valid;

-- Transfers. History names no house: it was live's, or the shared sandbox.

alter table transfers
  add column house_id uuid,
  drop constraint transfers_player_ledger_id_fkey,
  drop constraint transfers_legs_follow_kind,
  -- A posted transfer names its player's account and that account's house, a fenced one neither (match full). The one foreign key, in
  -- place of the one before: it costs the same. Never validated, because history names no house.
  add constraint transfers_player_plays_with_the_house
    foreign key (player_ledger_id, house_id) references ledger_accounts (id, house_id) match full not valid,
  -- One leg is the player's, the other is the house's account of that kind, whose id is the house's with another last digit (in the
  -- order of the kinds): no other pair exists.
  add constraint transfers_legs_follow_kind check (
    state <> 'posted'
    or (
      case when kind = 'fee' then debit_id else credit_id end = player_ledger_id
      and case when kind = 'fee' then credit_id else debit_id end = overlay(
        coalesce(
          house_id,
          case environment when 'live' then '00000000-0000-8000-8000-000000000020'::uuid
            else '00000000-0000-8000-8000-000000000010'::uuid end
        )::text
        placing substr('11243', array_position('{fee,refund,award,purse,deposit}'::text[], kind), 1) from 36 for 1
      )::uuid
      and (environment = 'live') = (house_id = '00000000-0000-8000-8000-000000000020')
    )
  ) not valid,
  -- A deposit leaves a player with no more than 1,000,000.00 in live and 10,000.00 of play money in a program's sandbox; the shared one
  -- takes none. Other credits are owed and have no limit. So a house's cash goes down by at most 10^8 cents a deposit: 9.2 x 10^10 of
  -- them in live, 9.2 x 10^12 in a sandbox, before a bigint is full.
  add constraint transfers_deposit_within_cap check (
    kind <> 'deposit'
    or house_id is null
    or player_balance_after_cents <= case house_id
      when '00000000-0000-8000-8000-000000000020'::uuid then 100000000
      when '00000000-0000-8000-8000-000000000010'::uuid then -1
      else 1000000 end
  ) not valid;
