-- The pages that have transfers of an instant, so that the worker that counts the money of days
-- (src/workers/count-days.ts) reads those of a few days, and not the whole ledger.
--
-- A block range index holds a few instants for each range of pages, not an entry for each transfer.
-- A charge does not write it: PostgreSQL adds a range once its pages are full (autosummarize). A
-- range of which nothing is known yet is always read, so no transfer is missed. It keeps several
-- intervals for each range, because a later transfer may use the space that is left in an old page.
--
-- While the index is built, no transfer can be posted: 1 s for a million of them on two busy cores.
--
-- The previous release does not need it, and the days stay right beside it. Its worker and this
-- release's lease the same row of `day_counts`, so one replica counts at a time, and both hold that
-- row while they replace days that are not closed. A chunk of this release whose lease ran out
-- meanwhile changes nothing. What either of them closes, neither counts again.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index transfers_by_instant_idx on transfers
  using brin (created_at timestamptz_minmax_multi_ops) with (pages_per_range = 64, autosummarize = on)
  where state = 'posted' and kind <> 'deposit';
