-- An operator who cancels a round says why: blanks alone are no reason, as for a decision on a
-- payout (0022). No round was cancelled for blanks: 0023 is of this release.
--
-- The previous release works on this schema: it cancels no round for an operator. 0026 validates
-- the constraint.

alter table rounds
  add constraint rounds_cancel_reason_has_words check (cancel_reason ~ '[^ \t\n\r]') not valid;
