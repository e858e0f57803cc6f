/**
 * Bounds and defaults of values that the gateway accepts for other services. Each is defined here
 * once. The service that stores or reads a value enforces its bound, and a test compares a stored
 * value's bound with that service's database. The gateway checks the bound earlier, and documents
 * it.
 *
 * Bounds with rules of their own are in the library of the rule: `player_ref` in
 * @laurel/values/tenant; `metadata`, `evidence` and the reason of a void in
 * @laurel/attempts/domain; URLs in @laurel/untrusted-url. Texts are counted in Unicode code points.
 */

const KIB = 1024;

/** The largest `integer` of PostgreSQL. */
const MAX_INTEGER = 2 ** 31 - 1;

/**
 * The largest body that a partner may send, in a request or a push. Only sign-in has a smaller
 * limit.
 */
export const MAX_BODY_BYTES = 256 * KIB;

/**
 * The most characters of the name of a challenge, tournament, program, metric, unit or tiebreak.
 */
export const MAX_NAME_CHARACTERS = 255;

/** The description of a challenge or a tournament. */
export const MAX_DESCRIPTION_CHARACTERS = 2_000;

/** The note on a change of a challenge's status. */
export const MAX_NOTE_CHARACTERS = 2_000;

/**
 * The most of any other count among the terms of a contest, such as attempts, players or ranks. It
 * is far above any field of players.
 */
export const MAX_COUNT_OF_TERMS = 1_000_000;

/** The jurisdictions in which a challenge is offered: more than there are countries. */
export const MAX_JURISDICTIONS = 300;

/** The highest verification level of a player; 0 is the lowest. */
export const MAX_VERIFICATION_LEVEL = 3;

/** The players that a challenge's calibration needs, if its operator does not say. */
export const DEFAULT_MIN_CALIBRATION_PLAYERS = 20;

/** The attempts of a player in 24 hours, if the challenge's operator does not say. */
export const DEFAULT_DAILY_ATTEMPT_CAP = 10;

/** The fewest scores behind the percentiles with which a partner seeds a calibration. */
export const MIN_SAMPLE_SIZE = 500;

/**
 * The most samples of a calibration. With no more than these, its counts fit an integer, and its
 * bar is found and audited in bounded time.
 */
export const MAX_CALIBRATION_N = 10_000_000;

/**
 * The most ranks of a purse table. Each round keeps a copy of its table, and every board shows the
 * table. The body of a request has room for this many of the largest rows.
 */
export const MAX_PAID_RANKS = 5_000;

/** The longest `round_length_seconds` of a tournament: a leap year. */
export const MAX_ROUND_SECONDS = 366 * 86_400;

/** RFC 5321 allows no longer address. */
export const MAX_EMAIL_CHARACTERS = 254;

/** The reference of a deposit. */
export const MAX_REFERENCE_CHARACTERS = 255;

/** The description of a webhook endpoint. */
export const MAX_ENDPOINT_DESCRIPTION_CHARACTERS = 1_000;

/** The descriptor of an integration, as JSON text. */
export const MAX_DESCRIPTOR_BYTES = 16 * KIB;

/** The most bytes of names and punctuation in the body of a dry run. */
const DRY_RUN_ENVELOPE_BYTES = KIB;

/** The sample of a dry run. The body of the dry run also contains the descriptor. */
export const MAX_SAMPLE_BYTES = MAX_BODY_BYTES - MAX_DESCRIPTOR_BYTES - DRY_RUN_ENVELOPE_BYTES;

/** The records of one push, or of one page of a poll. */
export const MAX_RECORDS = 100;

/** The shortest interval, from the start of a poll to the start of the next. */
export const MIN_POLL_INTERVAL_SECONDS = 30;

/** The longest interval. */
export const MAX_POLL_INTERVAL_SECONDS = MAX_INTEGER;

/** The rows on a page of most lists. */
export const MAX_PAGE_ROWS = 200;

/** The entries on a page of an integration's log. One entry may list `MAX_RECORDS` records. */
export const MAX_LOG_PAGE_ROWS = 100;

/** The standings that the gateway reads at a time to respond with a whole board. */
export const MAX_STANDINGS_ROWS = 2_000;

/** The fewest and the most bins of a histogram of scores that a reader may ask for. */
export const MIN_HISTOGRAM_BINS = 5;
export const MAX_HISTOGRAM_BINS = 100;

/** The longest period of an endpoint's statistics: as long as the log is kept by default. */
export const MAX_STATS_HOURS = 30 * 24;
