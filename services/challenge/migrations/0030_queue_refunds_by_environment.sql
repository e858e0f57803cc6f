-- A refund states whether its fee was real money, so that the sweep finds the refunds of real money
-- behind any number of refunds of play money. A row that the release before wrote has null, and is
-- treated as one of real money.
alter table refunds_due add column environment text
  constraint refunds_due_environment_is_known check (environment in ('live', 'test'));

create index refunds_due_of_live on refunds_due (since, attempt_id) where environment is distinct from 'test';
create index refunds_due_of_test on refunds_due (since, attempt_id) where environment = 'test';
