/**
 * The end of an exclusion as Laurel takes it, from a field of date and time in the zone of the
 * browser ("2026-11-21T12:00"). Undefined unless the field has a time after `now`.
 */
export function exclusionOf(typed: string, now: Date): string | undefined {
  const until = Date.parse(typed);
  return until > now.getTime() ? new Date(until).toISOString() : undefined;
}

export function isExcluded(selfExcludedUntil: string | null, now: Date): boolean {
  return selfExcludedUntil !== null && Date.parse(selfExcludedUntil) > now.getTime();
}
