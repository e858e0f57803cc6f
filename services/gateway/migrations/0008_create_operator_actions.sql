-- What operators did. Two facts, each written once and never changed: that an action began, which is on disk before it has any effect, and
-- what became of it. An action without a result died with its process: whether it took effect is not known.

create table operator_actions (
  id uuid not null,
  at timestamptz(3) not null default clock_timestamp(),
  -- Whose token it was.
  actor text not null,
  action text not null,
  -- What it was about, as `program:<id>`; null where nothing was named that could exist.
  subject text,
  -- JSON text, no secret in any: what was asked for, and the subject as operators are shown it.
  request text,
  before text,
  request_id text not null,
  constraint operator_actions_pkey primary key (id),
  constraint operator_actions_actor_length check (char_length(actor) between 1 and 64),
  constraint operator_actions_action_length check (char_length(action) between 1 and 64)
);

create index operator_actions_by_time on operator_actions (at desc, id desc);

create table operator_action_results (
  action_id uuid not null,
  at timestamptz(3) not null default clock_timestamp(),
  -- Of the answer, as HTTP counts.
  status smallint not null,
  -- Set when the action made something.
  created text,
  after text,
  constraint operator_action_results_pkey primary key (action_id),
  constraint operator_action_results_action_fkey foreign key (action_id) references operator_actions (id),
  constraint operator_action_results_status_is_http check (status between 200 and 599)
);

create function operator_actions_refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

create trigger operator_actions_append_only
  before update or delete or truncate on operator_actions
  for each statement execute function operator_actions_refuse_change();

create trigger operator_action_results_append_only
  before update or delete or truncate on operator_action_results
  for each statement execute function operator_actions_refuse_change();
