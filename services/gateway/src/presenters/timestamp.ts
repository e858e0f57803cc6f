/** ISO 8601 in UTC with milliseconds. Every message holds its instants as optional; one that is missing is a bug of who sent it. */
export function timestamp(instant: Date | undefined): string {
  if (instant === undefined) throw new Error('a service left out an instant');
  return instant.toISOString();
}
