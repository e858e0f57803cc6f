-- The instants of the transfers that `transfers_by_instant_idx` lacks: deposits and tombstones.
-- With both indexes the audit finds the transfers of the last minutes on any page. Once months are
-- deleted it cannot look at the end of the table, because new rows fill the pages that became free
-- in the middle.
--
-- A charge, a refund and a payment do not write this index: their rows do not meet its condition.
--
-- While the index is built, no transfer can be posted: less than 1 s for a million transfers.
--
-- The previous release does not need it: it audits the pages at the end of the table, which is
-- right for as long as nothing is deleted.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index transfers_deposits_and_tombstones_idx on transfers (created_at)
  where kind = 'deposit' or state <> 'posted';
