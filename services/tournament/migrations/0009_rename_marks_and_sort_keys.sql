-- Two names change to those of the glossary: the bytes that order the entries of a board are their sort keys, and the mark at or below which
-- no attempt is written any more is the sweeps' low watermark (libs/attempt-lifecycle/src/resolve-pending.ts).
--
-- The code of before does not run on this schema: its service is stopped before this migration (CHANGELOG).

-- squawk-ignore renaming-column
alter table entries rename column place to sort_key;
alter table entries rename constraint entries_place_ends_with_the_entry to entries_sort_key_ends_with_the_entry;
alter index entries_by_place rename to entries_by_sort_key;

-- squawk-ignore renaming-column
alter table board_chunks rename column lower_place to lower_sort_key;
alter table board_chunks rename constraint board_chunks_begin_at_a_place to board_chunks_begin_at_a_sort_key;
alter table board_chunks rename constraint board_chunks_lower_place_not_null to board_chunks_lower_sort_key_not_null;

-- squawk-ignore renaming-column
alter table seal_nodes rename column first_place to first_sort_key;
alter table seal_nodes rename constraint seal_nodes_first_place_not_null to seal_nodes_first_sort_key_not_null;

-- The columns of an index have names of their own.
-- squawk-ignore renaming-column
alter table entries_by_sort_key rename column place to sort_key;
-- squawk-ignore renaming-column
alter table board_chunks_pkey rename column lower_place to lower_sort_key;
-- squawk-ignore renaming-column
alter table seal_nodes_first_leaf_key rename column first_place to first_sort_key;

-- There are at most three rows to check.
alter table sweep_marks drop constraint sweep_marks_sweep_is_known;
update sweep_marks set sweep = 'low_watermark' where sweep = 'fence_creations';
alter table sweep_marks
  -- squawk-ignore constraint-missing-not-valid
  add constraint sweep_marks_sweep_is_known check (sweep in ('resolve_pending', 'expire_attempts', 'low_watermark'));
