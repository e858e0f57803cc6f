/**
 * The message of an assertion whose failure is a finding: money that does not add up, an acknowledged request that is lost.
 * `.ci/run` runs another black-box test that failed once more; a finding it never does (FINDING in .ci/verdict.mjs).
 */
export function finding(what: string): string {
  return `FINDING: ${what}`;
}
