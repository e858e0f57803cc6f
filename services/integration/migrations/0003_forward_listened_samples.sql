-- Listened samples go on to the challenge service, which calibrates with them and knows a sample by its id.
alter table listened_samples add column forwarded_at timestamptz(3);

-- Waiting for the challenge service, oldest first. Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index listened_samples_to_forward on listened_samples (received_at) where forwarded_at is null;
