-- Since when and until when each key signs, for the list of keys that auditors verify by: from `created_at`, until `valid_until`.
--
-- One key is current, whose period is open. A process that starts with another one makes that the current one and ends the period of the
-- key before it a minute later; a process that still signs with a replaced key goes on extending its period (libs/money-path, signing-keys).
alter table signing_keys add column valid_until timestamptz(3);

-- Keys that were replaced before this was kept: until their last receipt or seal, or until the next key came. Where there was ever one key, which
-- is the rule, no receipt is looked at.
update signing_keys k
set valid_until = greatest(
  (select min(n.created_at) from signing_keys n where (n.created_at, n.id) > (k.created_at, k.id)),
  (select max(o.recorded_at) from outcomes o where o.signing_key_id = k.id),
  (select max(s.created_at) from seals s where s.signing_key_id = k.id)
) + interval '1 minute'
where exists (select from signing_keys n where (n.created_at, n.id) > (k.created_at, k.id));

-- squawk-ignore constraint-missing-not-valid
alter table signing_keys add constraint signing_keys_period_is_in_order check (valid_until > created_at);

-- The table has a row for each key that there ever was, a handful.
-- squawk-ignore require-concurrent-index-creation
create unique index signing_keys_one_is_current on signing_keys ((true)) where valid_until is null;

-- A receipt is verified by its key for good, so a key stays what it is; and one that was replaced is never the current one again.
create function refuse_change_of_signing_keys() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'signing keys are never deleted' using errcode = 'restrict_violation', constraint = 'signing_keys_are_kept';
  end if;
  if (new.id, new.public_key, new.created_at) is distinct from (old.id, old.public_key, old.created_at) then
    raise exception 'a signing key never changes' using errcode = 'restrict_violation', constraint = 'signing_keys_are_kept';
  end if;
  if old.valid_until is not null and new.valid_until is null then
    raise exception 'a signing key that was replaced is not the current one again'
      using errcode = 'restrict_violation', constraint = 'signing_keys_stay_replaced';
  end if;
  return new;
end
$$;

create trigger signing_keys_are_kept before update or delete on signing_keys
  for each row execute function refuse_change_of_signing_keys();
