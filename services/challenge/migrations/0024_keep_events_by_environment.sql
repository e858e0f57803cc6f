-- An event that waits has its environment beside it, so that the events of real money are counted,
-- and published again, apart from those of play money (libs/events/src/relay.ts).
--
-- The release before inserts no environment: its events count as live, so that none of real money is
-- missed. It looks for the oldest event of both environments, and sorts for that without the index.

alter table outbox
  add column environment text not null default 'live'
    constraint outbox_environment_is_known check (environment in ('test', 'live'));

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index outbox_by_environment_and_publication on outbox (environment, published_at);

-- squawk-ignore require-concurrent-index-deletion
drop index outbox_by_publication;
