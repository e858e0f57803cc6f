-- In live a sample counts only for an account that may play for money when it comes. Samples of refs without an account leave the
-- calibrations of live challenges that still go on; they could be anybody's. Bars that are set stay: their challenges ramp since 0014.
-- Whether the accounts of older samples could play for money then is not on record, so those stay too.
--
-- The release before this one goes on recording such samples until its last replica is replaced. The audit names a live calibration that
-- has one.

-- Of a top_n challenge that still calibrates, too.
delete from bar_samples s using challenges c
where c.id = s.challenge_id and c.environment = 'live' and s.player like 'ref:%' and (
  c.status = 'calibrating'
  or (c.prize_structure = 'threshold' and c.threshold is null)
  or (c.prize_structure = 'top_n' and (select count(*) from bar_samples b where b.challenge_id = c.id) < c.top_n));

delete from calibration_players p using challenges c
where c.id = p.challenge_id and c.environment = 'live' and p.player like 'ref:%' and c.threshold is null;

-- The anchor is found again once there are many samples.
update calibrations k set collected = counted.samples, players = counted.players,
  anchor_score = null, anchor_below = null, anchor_at_or_below = null
from challenges c
cross join lateral (
  select count(*) as samples, count(distinct s.player) as players from bar_samples s where s.challenge_id = c.id
) counted
where c.id = k.challenge_id and c.environment = 'live' and c.threshold is null and k.collected <> counted.samples;
