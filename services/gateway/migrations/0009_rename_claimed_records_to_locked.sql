-- A record whose key a request uses is `locked`, since `locked_at`, in place of `claimed` and `claimed_at`: a claim is a prize taken, only.
--
-- The code of the previous release does not run on it: end every old replica before this migration. Key locks in flight stay in force, with
-- their instants and generations, and are taken over as before. The renaming takes the table's lock for the whole transaction, in which the
-- table is read once. 0010 validates the constraint.

-- squawk-ignore renaming-column
alter table idempotency_records rename column claimed_at to locked_at;
alter table idempotency_records rename constraint idempotency_records_claimed_at_not_null to idempotency_records_locked_at_not_null;

-- The constraint knows either name and never both, so it is absent while rows change from one to the other.
alter table idempotency_records drop constraint idempotency_records_state_is_known;

update idempotency_records set state = 'locked' where state = 'claimed';

alter table idempotency_records
add constraint idempotency_records_state_is_known check (state in ('locked', 'completed', 'released')) not valid;
