-- What partners reported: which attempt a report stands for, scores without an attempt, and the log.

-- A report that names a player and not an attempt, and the attempt that it was found to stand for: written, with the disk, before the attempt
-- is settled, so that the same report can never settle another one. Never deleted: a captured body stays valid as long as its secret.
create table report_attempts (
  integration_id uuid not null,
  -- SHA-256 of what the descriptor's `dedupe` reads.
  report_hash bytea not null,
  attempt_id uuid not null,
  created_at timestamptz(3) not null,
  constraint report_attempts_pkey primary key (integration_id, report_hash),
  constraint report_attempts_integration_id_fkey foreign key (integration_id) references integrations (id),
  constraint report_attempts_hash_is_sha256 check (octet_length(report_hash) = 32)
);

-- Scores for a calibrating challenge that no open attempt of the player stood behind.
create table listened_samples (
  integration_id uuid not null,
  report_hash bytea not null,
  program_id uuid not null,
  environment text not null,
  challenge_id uuid not null,
  player_ref text not null,
  score double precision not null,
  received_at timestamptz(3) not null,
  constraint listened_samples_pkey primary key (integration_id, report_hash),
  constraint listened_samples_integration_id_fkey foreign key (integration_id) references integrations (id),
  constraint listened_samples_hash_is_sha256 check (octet_length(report_hash) = 32),
  constraint listened_samples_environment_is_known check (environment in ('test', 'live')),
  constraint listened_samples_ref_length check (char_length(player_ref) between 1 and 255),
  constraint listened_samples_score_is_finite check (
    score <> 'NaN' and score <> 'Infinity' and score <> '-Infinity')
);

create index listened_samples_of_challenge on listened_samples (challenge_id, received_at);

-- One row for each push with a valid signature and each page of a poll, with what became of its records; kept 7 days.
create table log_entries (
  id uuid not null,
  integration_id uuid not null,
  kind text not null,
  at timestamptz(3) not null,
  -- The first 1,000 characters of the body, without NUL.
  body_excerpt text not null,
  -- Why the whole failed; null when it was read.
  error text,
  -- An array of {index, attempt_id?, status, code?, message?}.
  records json not null,
  constraint log_entries_pkey primary key (id),
  constraint log_entries_integration_id_fkey foreign key (integration_id) references integrations (id),
  constraint log_entries_kind_is_known check (kind in ('push', 'poll')),
  constraint log_entries_excerpt_length check (char_length(body_excerpt) <= 1000),
  constraint log_entries_records_are_an_array check (json_typeof(records) = 'array')
);

create index log_entries_of_integration on log_entries (integration_id, at desc, id desc);

create index log_entries_by_age on log_entries (at);
