-- The audit reads this database in slices (libs/postgres/src/sliced-audit.ts), because a statement
-- over the attempts and entries of years takes longer than the interval of the audit. These tables
-- keep how far the pass under way has come, what it found, and the sums that only a whole pass
-- completes.
--
-- The previous release does not know the tables: it runs the whole audit, as before.

create table audit_passes (
  id smallint not null,
  -- When the pass under way began; null between two passes.
  started_at timestamptz(3),
  -- When the last whole pass ended; null before the first.
  completed_at timestamptz(3),
  -- The walk under way, and the last key that it has audited.
  walk text,
  after uuid,
  -- What was committed when the pass began (`pg_current_snapshot`): its sums count nothing else.
  snapshot text,
  -- By table, the pages from which on rows may be new: since the run before the last, and since the
  -- last.
  tails jsonb not null,
  constraint audit_passes_pkey primary key (id),
  constraint audit_passes_is_one_row check (id = 1),
  constraint audit_passes_is_whole check (num_nulls(started_at, walk, after, snapshot) in (0, 4))
);

-- A violation stays until the slice with its row is audited again, and is whole then.
create table audit_findings (
  check_id text not null,
  -- The walk and the row whose slice found it; '' and the null uuid for what the end of a pass
  -- found.
  walk text not null,
  key uuid not null,
  -- What violates the rule, as the audit names it.
  id text not null,
  environment text not null,
  constraint audit_findings_pkey primary key (check_id, walk, key, id, environment),
  constraint audit_findings_environment_is_known check (environment in ('test', 'live'))
);

create table audit_sums (
  name text not null,
  key text not null,
  cents numeric not null,
  constraint audit_sums_pkey primary key (name, key)
);
