-- An entrant of a round is an account with at least one attempt whose fee was not returned: one whose attempts have all expired, or were
-- voided, is none any more, and comes in again with its next one. So `entries.bought_at` says since when its account is in the round,
-- null while it is not, and `round_tallies.entrants` counts those who are in; at the end of a round, those who scored.
--
-- Rounds that are open are counted anew. Those that are over keep the count that their gate decided on and their seal has signed.

-- Every transaction that enters or removes an account locks the tally of its round first. Held for one look at the entries of open rounds.
lock table round_tallies in exclusive mode;

update entries e
set bought_at = null
from rounds r
where r.id = e.round_id and r.status = 'open' and e.bought_at is not null
  and not exists (
    select from attempts a
    where a.round_id = e.round_id and a.account_id = e.account_id and a.status in ('open', 'settled')
  );

update round_tallies t
set entrants = (select count(*) from entries e where e.round_id = t.round_id and e.bought_at is not null)
from rounds r
where r.id = t.round_id and r.status = 'open';
