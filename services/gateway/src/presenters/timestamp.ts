/**
 * ISO 8601 in UTC with milliseconds. In every message, instants are optional fields; a missing one
 * is the sender's bug.
 */
export function timestamp(instant: Date | undefined): string {
  if (instant === undefined) throw new Error('a service left out an instant');
  return instant.toISOString();
}
