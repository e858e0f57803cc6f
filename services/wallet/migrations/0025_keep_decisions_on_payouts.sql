-- An operator's decision on a held payout is kept with the payout: who decided, when and why. The
-- reason was in the gateway's log of actions alone. The decision is final, and the cause for which
-- the payout was held stays.
--
-- The previous release decides payouts without a row in payout_decisions, and never changes a
-- payout that is decided.

create table payout_decisions (
  award_id uuid not null,
  decision text not null,
  -- The name of the token's holder.
  operator text not null,
  reason text,
  decided_at timestamptz(3) not null,
  constraint payout_decisions_pkey primary key (award_id),
  constraint payout_decisions_award_id_fkey foreign key (award_id) references payouts (award_id),
  constraint payout_decisions_decision_is_known check (decision in ('released', 'denied')),
  constraint payout_decisions_operator_length check (char_length(operator) between 1 and 64),
  constraint payout_decisions_reason_length check (char_length(reason) between 1 and 1000),
  constraint payout_decisions_reason_has_words check (reason ~ '[^ \t\n\r]')
);

create function payout_decisions_match_payout() returns trigger language plpgsql as $$
begin
  if not exists (
    select from payouts
    where payouts.award_id = new.award_id and payouts.reason is not null
      and case new.decision
        when 'released' then payouts.status = 'paid' and payouts.paid_at = new.decided_at
        else payouts.status = 'denied' and payouts.denied_at = new.decided_at
      end
  ) then
    raise exception 'the payout % was not held and then % at that instant', new.award_id, new.decision
      using errcode = 'integrity_constraint_violation', constraint = 'payout_decisions_match_their_payout';
  end if;
  return new;
end
$$;

create trigger payout_decisions_match_their_payout before insert on payout_decisions
  for each row execute function payout_decisions_match_payout();

create function payout_decisions_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'decisions on payouts are final: % refused', lower(tg_op)
    using errcode = 'integrity_constraint_violation', constraint = tg_name;
end
$$;

create trigger payout_decisions_are_kept
  before update or delete or truncate on payout_decisions
  for each statement execute function payout_decisions_refuse_change();

-- After the update, so that a violated constraint is named first. Payouts are inserted by the flow
-- of an outcome and updated by an operator's decision alone, so it costs an outcome nothing.
create trigger payouts_decisions_are_final
  after update on payouts
  for each row
  when (
    new.reason is distinct from old.reason
    or (old.status <> 'held'
      and (new.status, new.transfer_id, new.paid_at, new.denied_at)
        is distinct from (old.status, old.transfer_id, old.paid_at, old.denied_at))
  )
  execute function payout_decisions_refuse_change();
