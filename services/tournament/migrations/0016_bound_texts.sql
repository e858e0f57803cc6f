-- The texts that an operator sets have at most as many characters as the service takes
-- (src/domain/tournament-terms.ts, libs/attempts/src/steps/end-attempt.ts). The name has had
-- its bound since its table was made.
--
-- The release before counted UTF-16 units, of which a character has one or two: what it takes is
-- within these bounds. 0017 validates them.

alter table tournaments
  add constraint tournaments_description_length check (char_length(description) <= 9999) not valid,
  add constraint tournaments_metric_name_length check (char_length(metric_name) between 1 and 255) not valid,
  add constraint tournaments_metric_unit_length check (char_length(metric_unit) between 1 and 255) not valid,
  add constraint tournaments_tiebreak_metric_name_length
    check (char_length(tiebreak_metric_name) between 1 and 255) not valid;

alter table attempts
  add constraint attempts_closed_reason_length check (char_length(closed_reason) between 1 and 1000) not valid;
