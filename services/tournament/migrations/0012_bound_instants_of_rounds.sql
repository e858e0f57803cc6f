-- A round could be stored that closes in the year 10000. No reader could present it, so that every
-- list of its program's tournaments failed. The instants of a round now lie between 1900-01-01 and
-- 9999-01-01 UTC.
--
-- A round beyond the bounds is moved to them. It has neither settled nor closed: a round that is over
-- closed at an instant that had passed. Its terms are frozen by a trigger, which is off for that
-- statement alone.
--
-- The release before works on this schema. It still takes such an end from an operator, and then
-- answers 500 and stores nothing. 0013 validates the constraint.

alter table rounds
  add constraint rounds_lie_within_bounds
    check (opens_at >= '1900-01-01T00:00:00Z' and closes_at <= '9999-01-01T00:00:00Z') not valid;

alter table rounds disable trigger rounds_terms_are_frozen;

update rounds
set opens_at = least(greatest(opens_at, '1900-01-01T00:00:00Z'), '9998-12-31T00:00:00Z'),
  entries_close_at = least(greatest(entries_close_at, '1900-01-01T00:00:00Z'), '9998-12-31T23:50:00Z'),
  closes_at = least(closes_at, '9999-01-01T00:00:00Z')
where opens_at < '1900-01-01T00:00:00Z' or closes_at > '9999-01-01T00:00:00Z';

alter table rounds enable trigger rounds_terms_are_frozen;
