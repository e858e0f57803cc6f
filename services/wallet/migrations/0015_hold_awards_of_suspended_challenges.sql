-- An award can be held because its challenge is suspended, and because its program's payouts would pass their limit. The wallet of the
-- release before writes neither reason, and reads both as the text that they are.

alter table payouts
  drop constraint payouts_reason_is_known,
  -- 0016 validates it.
  add constraint payouts_reason_is_known check (
    reason = any ('{enforcement_flag,under_investigation,payout_velocity,sandbox_hold,challenge_suspended,program_velocity}'::text[])
  ) not valid;
