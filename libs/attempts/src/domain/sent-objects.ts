/**
 * The two objects that a partner keeps with an attempt, each as the text that was sent
 * (docs/contract/partner-api.md, "Limits").
 */

/** The metadata of a creation. */
export const MAX_METADATA_BYTES = 16 * 1024;

/** The evidence of a report. */
export const MAX_EVIDENCE_BYTES = 64 * 1024;
