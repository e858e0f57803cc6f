/** `evidence` of a report is an object of at most 64 KiB, kept as the text that was sent (docs/contract/partner-api.md, "Limits"). */
export const MAX_EVIDENCE_BYTES = 64 * 1024;
