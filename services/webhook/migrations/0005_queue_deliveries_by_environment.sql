-- Deliveries of live and of test wait in queues of their own (src/domain/delivery-queues.ts); a delivery without
-- a tenant, which a developer requested as a test, waits in that of test. The index leads to the next
-- one of each queue, however many wait in the other.
--
-- The release before reads the due deliveries of an endpoint by this index too, and sorts those of
-- both environments.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index deliveries_due_by_environment on deliveries (endpoint_id, (coalesce(environment, 'test')), next_attempt_at)
  where status = 'pending';

-- squawk-ignore require-concurrent-index-deletion
drop index deliveries_due;
