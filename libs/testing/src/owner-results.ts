/**
 * Reads the results of both contest services in the same way: those of calls and those of audits.
 */

type Result = { readonly $case: string; readonly value: unknown } | undefined;
type ValueOf<Of extends Result, Case extends string> = Extract<Of, { readonly $case: Case }>['value'];

/** The attempt that was created; anything else is a failed test. */
export function created<Of extends Result>(result: Of): ValueOf<Of, 'attempt'> {
  if (result?.$case !== 'attempt') throw new Error(`not created: ${JSON.stringify(result)}`);
  return result.value;
}

/** The outcome that was recorded; anything else is a failed test. */
export function recorded<Of extends Result>(result: Of): ValueOf<Of, 'outcome'> {
  if (result?.$case !== 'outcome') throw new Error(`not recorded: ${JSON.stringify(result)}`);
  return result.value;
}

/** `attempt`, `outcome`, `failure` (the item failed), or the code of the refusal. */
export function verdictOf(
  result:
    | { readonly $case: 'refused'; readonly value: { readonly code: string } }
    | { readonly $case: 'attempt' | 'outcome' | 'found' | 'failure' }
    | undefined,
): string {
  return result?.$case === 'refused' ? result.value.code : (result?.$case ?? 'nothing');
}

/** The events that are missing, and those that no expected event explains. */
export function unmatchedEvents(expected: ReadonlySet<string>, emitted: ReadonlySet<string>): readonly string[] {
  return [
    ...[...expected].filter((event) => !emitted.has(event)).map((event) => `missing: ${event}`),
    ...[...emitted].filter((event) => !expected.has(event)).map((event) => `not expected: ${event}`),
  ];
}

type Check = { readonly id: string; readonly violations: bigint; readonly examples: readonly string[] };

/** The checks of an audit that found something. */
export function violationsOf(checks: readonly Check[]): readonly string[] {
  return checks
    .filter(({ violations }) => violations > 0n)
    .map(({ id, violations, examples }) => `${id}: ${violations} (${examples.join(', ')})`);
}
