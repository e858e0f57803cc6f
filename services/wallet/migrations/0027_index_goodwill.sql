-- The deposits that make an attempt good, which operators read with the attempt. The index has these
-- deposits alone: no fee, refund or payout writes it.
--
-- While the index is built, no transfer can be posted: 0.2 s for a million of them. The previous
-- release does not need it.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index transfers_goodwill_idx on transfers (attempt_id, seq)
  where kind = 'deposit' and attempt_id is not null;
