/**
 * The message of an assertion whose failure is a finding: money that does not add up, or the loss
 * of an acknowledged request. `.ci/run` repeats some failed tests once, but never a finding
 * (FINDING in .ci/verdict.mjs).
 */
export function findingMessage(what: string): string {
  return `FINDING: ${what}`;
}
