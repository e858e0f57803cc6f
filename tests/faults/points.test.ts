import { expect, test } from 'vitest';
import { FAILPOINTS } from './points.ts';

test('names of failpoints are unique and consist of the service, the flow and the step', () => {
  const all: readonly string[] = Object.values(FAILPOINTS).flat();
  expect(new Set(all).size).toBe(all.length);
  for (const [service, names] of Object.entries(FAILPOINTS)) {
    for (const name of names) expect(name).toMatch(new RegExp(`^${service}\\.[a-z]+\\.(before|after)-[a-z]+$`));
  }
});
