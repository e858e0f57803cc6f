-- Who reviewed a held award and why, from the commit that begins the review until the wallet keeps
-- the decision: after a crash the sweeper finishes the review with the same operator and reason.
--
-- The previous release reviews awards without a row here. If one of its replicas finishes a review
-- that has a row, the wallet's payout has no operator and no reason; this row stays.

create table award_reviews (
  award_id uuid not null,
  decision text not null,
  -- The name of the token's holder.
  operator text not null,
  reason text,
  constraint award_reviews_pkey primary key (award_id),
  constraint award_reviews_award_id_fkey foreign key (award_id) references awards (id),
  constraint award_reviews_decision_is_known check (decision in ('released', 'denied')),
  constraint award_reviews_operator_length check (char_length(operator) between 1 and 64),
  constraint award_reviews_reason_length check (char_length(reason) between 1 and 1000),
  constraint award_reviews_reason_has_words check (reason ~ '[^ \t\n\r]')
);
