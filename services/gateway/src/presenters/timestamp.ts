/** ISO 8601 in UTC with milliseconds. Every message has its instants as optional fields; one that is missing is a bug of the sender. */
export function timestamp(instant: Date | undefined): string {
  if (instant === undefined) throw new Error('a service left out an instant');
  return instant.toISOString();
}
