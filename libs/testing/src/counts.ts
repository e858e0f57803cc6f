import type { Answer } from './http-client.ts';

/** Returns how often each word occurs. */
export function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/**
 * Returns the number of responses by code or status: `{ '201': 10, 'attempt_cap_reached': 30 }`.
 */
export function tally(answers: readonly Answer<unknown>[]): Record<string, number> {
  return countsOf(answers.map(({ code, status }) => code ?? String(status)));
}
