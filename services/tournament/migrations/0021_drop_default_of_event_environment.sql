-- Every event names its environment, and none counts as live because it names none. 0020 gave the
-- column its default for the release before 0.2.0.
--
-- The previous release works on this schema: 0.2.0 inserts the environment of every event.
alter table outbox alter column environment drop default;
