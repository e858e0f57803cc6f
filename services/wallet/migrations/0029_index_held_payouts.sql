-- The payouts that are held now, newest first, with what the operator's lists filter by and what
-- the page of the money adds up. Held payouts are scattered over the table: 10,000 of them were as
-- many pages to read.
--
-- Payouts that are paid at once are not in the index. While it is built, payouts wait; fees do not.
-- The previous release does not need it.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index payouts_held_idx on payouts (created_at desc, award_id desc)
  include (account_id, program_id, environment, amount_cents)
  where status = 'held';
