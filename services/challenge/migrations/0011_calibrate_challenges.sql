-- How a challenge gets its bar: from the scores of free attempts, from listened scores, from a partner's percentiles, or from the rung below.
-- The code of before does not run on this schema: its service is stopped before this migration (CHANGELOG).

-- The identity of a sample is the attempt that scored, or for a listened score the report that the integration service received.
-- squawk-ignore renaming-column
alter table bar_samples rename column attempt_id to sample_id;

-- Bars are read off bar_samples_by_score. A vacuum makes that a read of the index alone; by default it comes after a fifth of the table.
alter table bar_samples set (autovacuum_vacuum_insert_scale_factor = 0.02);

-- The progress of each calibration, written under the lock of the challenge's row by what records its samples. A sample over its player's
-- fair share is not recorded and counts nowhere (src/domain/counted-samples.ts).
create table calibrations (
  challenge_id uuid not null,
  collected bigint not null,
  players bigint not null,
  -- A score near the bar to come, from which the bar is reached in few steps, with the samples below it and at or below it. Null while
  -- there are few samples (src/domain/rank-anchor.ts).
  anchor_score double precision,
  anchor_below bigint,
  anchor_at_or_below bigint,
  constraint calibrations_pkey primary key (challenge_id),
  constraint calibrations_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint calibrations_players_have_samples check (players >= 0 and collected >= players),
  constraint calibrations_anchor_is_whole check (num_nulls(anchor_score, anchor_below, anchor_at_or_below) in (0, 3)),
  constraint calibrations_anchor_is_a_sample
    check (anchor_below >= 0 and anchor_below < anchor_at_or_below and anchor_at_or_below <= collected)
);

-- How many samples each player of a calibration has: no more than the fair share.
create table calibration_players (
  challenge_id uuid not null,
  -- As in bar_samples.
  player text not null,
  samples integer not null,
  -- The player's limit, of the challenge's terms.
  fair_share integer not null,
  constraint calibration_players_pkey primary key (challenge_id, player),
  constraint calibration_players_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint calibration_players_keep_their_share check (samples between 1 and fair_share)
);

-- The percentiles that a partner seeded a challenge with: at most once, by the operation that is answered again.
create table seeded_distributions (
  challenge_id uuid not null,
  operation_id uuid not null,
  p5 double precision not null,
  p25 double precision not null,
  p50 double precision not null,
  p75 double precision not null,
  p95 double precision not null,
  sample_size bigint not null,
  -- The bar that followed.
  threshold double precision not null,
  seeded_at timestamptz(3) not null,
  constraint seeded_distributions_pkey primary key (challenge_id),
  constraint seeded_distributions_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint seeded_distributions_operation_id_key unique (operation_id),
  constraint seeded_distributions_ascend
    check (p5 > '-Infinity' and p5 < p25 and p25 < p50 and p50 < p75 and p75 < p95 and p95 < 'Infinity'),
  constraint seeded_distributions_threshold_is_clamped check (threshold between p5 and p95),
  constraint seeded_distributions_sample_size_floor check (sample_size >= 500)
);

-- Samples of challenges that calibrate now, counted once. Those above a fair share were recorded before there was one and stay.
insert into calibrations (challenge_id, collected, players)
select c.id, count(s.sample_id), count(distinct s.player)
from challenges c left join bar_samples s on s.challenge_id = c.id
where c.prize_structure = 'threshold' and c.threshold is null
group by c.id;

insert into calibration_players (challenge_id, player, samples, fair_share)
select s.challenge_id, s.player, count(*), greatest(count(*), ceil(2.0 * c.min_calibration_n / c.min_calibration_players))
from bar_samples s join challenges c on c.id = s.challenge_id
where c.prize_structure = 'threshold' and c.threshold is null
group by s.challenge_id, s.player, c.min_calibration_n, c.min_calibration_players;
