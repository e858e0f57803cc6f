-- A creation that waits for long must not write its attempt behind the sweep of pending ones: the row 'fence_creations' says until which
-- `created_at` no attempt is written any more (libs/money-path/src/resolve-pending.ts). There are two rows to check.
alter table sweep_marks
  drop constraint sweep_marks_sweep_is_known,
  -- squawk-ignore constraint-missing-not-valid
  add constraint sweep_marks_sweep_is_known check (sweep in ('resolve_pending', 'expire_attempts', 'fence_creations'));
