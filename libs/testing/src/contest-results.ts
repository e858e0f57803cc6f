/** Reads results of calls and of audits, in the same way for both contest services. */

type Result = { readonly $case: string; readonly value: unknown } | undefined;
type ValueOf<Of extends Result, Case extends string> = Extract<Of, { readonly $case: Case }>['value'];

/** Returns the attempt that was created; throws on any other result. */
export function created<Of extends Result>(result: Of): ValueOf<Of, 'attempt'> {
  if (result?.$case !== 'attempt') throw new Error(`not created: ${JSON.stringify(result)}`);
  return result.value;
}

/** Returns the outcome that was recorded; throws on any other result. */
export function recorded<Of extends Result>(result: Of): ValueOf<Of, 'outcome'> {
  if (result?.$case !== 'outcome') throw new Error(`not recorded: ${JSON.stringify(result)}`);
  return result.value;
}

/** Returns `attempt`, `outcome`, `failure` (the item failed), or the code of the refusal. */
export function verdictOf(
  result:
    | { readonly $case: 'refused'; readonly value: { readonly code: string } }
    | { readonly $case: 'attempt' | 'outcome' | 'found' | 'failure' }
    | undefined,
): string {
  return result?.$case === 'refused' ? result.value.code : (result?.$case ?? 'nothing');
}

/**
 * Returns the expected events that were not emitted, and the emitted events that were not expected.
 */
export function unmatchedEvents(expected: ReadonlySet<string>, emitted: ReadonlySet<string>): readonly string[] {
  return [
    ...[...expected].filter((event) => !emitted.has(event)).map((event) => `missing: ${event}`),
    ...[...emitted].filter((event) => !expected.has(event)).map((event) => `not expected: ${event}`),
  ];
}

type Check = { readonly id: string; readonly violations: bigint; readonly examples: readonly string[] };

/** Returns the checks of an audit that found violations. */
export function violationsOf(checks: readonly Check[]): readonly string[] {
  return checks
    .filter(({ violations }) => violations > 0n)
    .map(({ id, violations, examples }) => `${id}: ${violations} (${examples.join(', ')})`);
}
