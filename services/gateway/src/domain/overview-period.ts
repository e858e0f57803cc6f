/**
 * How far back the overview of a program reads (docs/contract/portal-api.md, "Developer portal").
 * The counts of requests are kept for this long and one day more, because the first bucket of an
 * overview may begin before its period.
 */
const HOUR_MS = 3_600_000;

export const MAX_OVERVIEW_HOURS = 7 * 24;

export const REQUEST_COUNTS_KEPT_MS = (MAX_OVERVIEW_HOURS + 24) * HOUR_MS;
