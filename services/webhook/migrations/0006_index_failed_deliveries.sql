-- The failed deliveries of an endpoint by time, for sending all of a period again and for the last failure
-- (repository/failed-deliveries.ts, repository/delivery-stats.ts), and the resends of an event, which say whether one
-- already covers it. Few deliveries fail and few are resent, so both indexes stay small; `status` is in the condition
-- of an index already, so no update becomes dearer by kind.
--
-- The release before does not read these indexes.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index deliveries_failed on deliveries (endpoint_id, created_at, id) where status = 'failed';

-- squawk-ignore require-concurrent-index-creation
create index deliveries_resends on deliveries (endpoint_id, event_id) where resend_of is not null;
