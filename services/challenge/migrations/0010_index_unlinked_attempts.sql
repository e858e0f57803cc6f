-- The free attempts of a ref that had no account when it made them, for a report that names its player (src/repository/open-attempts.ts).
-- All other attempts are found by their account, and a paid one, which always has an account, is not in this index. It holds no status, so
-- that every change of one stays heap-only.
--
-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index attempts_by_unlinked_ref on attempts (challenge_id, player_ref, created_at) where account_id is null;
