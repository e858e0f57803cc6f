/**
 * A start that fails for a reason that the user can fix. The message is one sentence that says how.
 */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
