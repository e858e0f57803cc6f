/** The two objects that a partner keeps with an attempt, each as the text that was sent (docs/contract/partner-api.md, "Limits"). */

/** Of a creation. */
export const MAX_METADATA_BYTES = 16 * 1024;

/** Of a report. */
export const MAX_EVIDENCE_BYTES = 64 * 1024;
