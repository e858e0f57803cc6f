-- Two names change to those of the glossary: an attempt whose score was outside the plausible window is disqualified, and the mark at or
-- below which no attempt is written any more is the sweeps' low watermark (libs/attempt-lifecycle/src/resolve-pending.ts).
--
-- The code of before does not run on this schema: its service is stopped before this migration (CHANGELOG).

-- squawk-ignore renaming-column
alter table attempts rename column spoiled_at to disqualified_at;
alter table attempts rename constraint attempts_spoiled_never_settles to attempts_disqualified_never_settles;

-- There are at most three rows to check.
alter table sweep_marks drop constraint sweep_marks_sweep_is_known;
update sweep_marks set sweep = 'low_watermark' where sweep = 'fence_creations';
alter table sweep_marks
  -- squawk-ignore constraint-missing-not-valid
  add constraint sweep_marks_sweep_is_known check (sweep in ('resolve_pending', 'expire_attempts', 'low_watermark'));
