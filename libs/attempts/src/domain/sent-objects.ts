/**
 * The two JSON objects that a partner stores with an attempt, both kept as the text that was sent
 * (docs/contract/partner-api.md, "Limits").
 */

/** The most bytes of the metadata that a creation sends. */
export const MAX_METADATA_BYTES = 16 * 1024;

/** The most bytes of the evidence that a report sends. */
export const MAX_EVIDENCE_BYTES = 64 * 1024;
