/** A start that cannot go on for a reason the user can mend. The message is one sentence that says what to do. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
