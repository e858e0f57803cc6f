-- Who approved a program, when, and the live key that the answer showed. That answer may be lost;
-- the same operator may then repeat the approval for a short time, which replaces the key while no
-- request has used it.
--
-- The previous release does not know the table. An approval by it has no row, and cannot be
-- repeated.

create table approvals (
  program_id uuid not null,
  -- The key of the last repeat.
  api_key_id uuid not null,
  -- The name of the holder of the operator token.
  operator text not null,
  approved_at timestamptz(3) not null,
  constraint approvals_pkey primary key (program_id),
  constraint approvals_program_fkey foreign key (program_id) references programs (id),
  constraint approvals_api_key_fkey foreign key (api_key_id) references api_keys (id),
  constraint approvals_operator_length check (char_length(operator) between 1 and 64)
);
