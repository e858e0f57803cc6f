-- The gateway's worker repeats the facts of programs that changed in the last minutes (`repository/program-facts.ts`) and finds them by their
-- version, which is the time of the change in microseconds. The previous release neither uses the index nor is hindered by it.

-- squawk-ignore require-concurrent-index-creation
create index programs_by_version on programs (version);
