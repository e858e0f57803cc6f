-- A refund states whether its fee was real money, so that the sweep finds the refunds of real money
-- behind any number of refunds of play money. A row that the release before wrote has null, and is
-- treated as one of real money.
alter table refunds_due add column environment text
  constraint refunds_due_environment_is_known check (environment in ('live', 'test'));

-- The queue is short: what is due is refunded within seconds.
-- squawk-ignore require-concurrent-index-creation
create index refunds_due_of_live on refunds_due (since, attempt_id) where environment is distinct from 'test';
-- squawk-ignore require-concurrent-index-creation
create index refunds_due_of_test on refunds_due (since, attempt_id) where environment = 'test';
