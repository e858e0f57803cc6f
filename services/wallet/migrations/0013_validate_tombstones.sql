-- Reads the table once under a lock that lets reads and writes go on, which 0012 could not do in its own transaction.

alter table transfers
  validate constraint transfers_tombstone_moves_nothing,
  validate constraint transfers_refusal_only_on_tombstone;
