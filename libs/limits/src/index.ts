/**
 * Bounds of what the gateway takes for another service. Each stands here once: the service that keeps the value judges by
 * it, and a test holds its database to it; the gateway refuses by it sooner, and writes it into the documents.
 *
 * What a library judges stands with its rule: `player_ref` in @laurel/tenant, `metadata`, `evidence` and the reason of a
 * void in @laurel/attempts/domain, URLs in @laurel/untrusted-url. Texts are counted in Unicode code points.
 */

const KIB = 1024;

/** Of a body that a partner sends: a request, or a push. Only signing in takes less. */
export const MAX_BODY_BYTES = 256 * KIB;

/** Names of challenges, tournaments and programs, and of what is measured: metrics, their units, tiebreaks. */
export const MAX_NAME_CHARACTERS = 255;

/** Of a challenge or a tournament. */
export const MAX_DESCRIPTION_CHARACTERS = 2_000;

/** Of a change of a challenge's status. */
export const MAX_NOTE_CHARACTERS = 2_000;

/** The most samples of a calibration: its counts stay within an integer, and its bar is found and audited in bounded time. */
export const MAX_CALIBRATION_N = 10_000_000;

/** Each round keeps a copy of its purse table, and every board shows it. As many of the largest rows fit into a body. */
export const MAX_PAID_RANKS = 5_000;

/** Of an address: RFC 5321 allows no more. */
export const MAX_EMAIL_CHARACTERS = 254;

/** Of a deposit's reference. */
export const MAX_REFERENCE_CHARACTERS = 255;

/** Of a webhook endpoint's description. */
export const MAX_ENDPOINT_DESCRIPTION_CHARACTERS = 1_000;

/** Of an integration's descriptor, as JSON text. */
export const MAX_DESCRIPTOR_BYTES = 16 * KIB;

/** Names and punctuation of the body of a dry run. */
const DRY_RUN_ENVELOPE_BYTES = KIB;

/** Of the sample of a dry run, whose body has the descriptor too. */
export const MAX_SAMPLE_BYTES = MAX_BODY_BYTES - MAX_DESCRIPTOR_BYTES - DRY_RUN_ENVELOPE_BYTES;

/** Records of one push, and of one page of a poll. */
export const MAX_RECORDS = 100;

/** From the beginning of a poll to that of the next one. */
export const MIN_POLL_INTERVAL_SECONDS = 30;

/** What an integer of the database can hold. */
export const MAX_POLL_INTERVAL_SECONDS = 2 ** 31 - 1;
