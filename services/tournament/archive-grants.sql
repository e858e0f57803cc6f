-- The complete privileges of the archive's role, which logs in only while a month is deleted
-- (decision 38). migrate.ts revokes all of its privileges and grants these, if
-- TOURNAMENT_ARCHIVE_DATABASE_URL names the role.

-- What a run reads: the rows that it compares with the files, and the keys that signed them.
grant select on rounds to :"archive_role";
grant select on round_tallies to :"archive_role";
grant select on round_cancellations to :"archive_role";
grant select on entries to :"archive_role";
grant select on entry_refs to :"archive_role";
grant select on attempts to :"archive_role";
grant select on outcomes to :"archive_role";
grant select on round_payouts to :"archive_role";
grant select on award_reviews to :"archive_role";
grant select on seals to :"archive_role";
grant select on seal_nodes to :"archive_role";
grant select on signing_keys to :"archive_role";

-- What a run finds of an earlier one.
grant select on archived_months to :"archive_role";
grant select on archived_batches to :"archive_role";

-- The only way to delete.
grant execute on function begin_archived_month(text,bytea,jsonb,text[],integer[],bytea[]) to :"archive_role";
grant execute on function delete_archived_batch(text,integer) to :"archive_role";
grant execute on function end_archived_month(text) to :"archive_role";

-- The vacuum after a month.
grant maintain on attempts to :"archive_role";
grant maintain on outcomes to :"archive_role";
