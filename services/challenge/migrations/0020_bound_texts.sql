-- The texts that an operator sets have at most as many characters as the service takes
-- (src/domain/challenge-terms.ts, libs/attempts/src/steps/end-attempt.ts). The name and the
-- note of a status have had their bounds since their tables were made.
--
-- The release before counted UTF-16 units, of which a character has one or two: what it takes is
-- within these bounds. 0021 validates them.

alter table challenges
  add constraint challenges_description_length check (char_length(description) <= 9999) not valid,
  add constraint challenges_metric_name_length check (char_length(metric_name) between 1 and 255) not valid,
  add constraint challenges_metric_unit_length check (char_length(metric_unit) between 1 and 255) not valid;

alter table attempts
  add constraint attempts_closed_reason_length check (char_length(closed_reason) between 1 and 1000) not valid;
