import { afterEach, expect, test, vi } from 'vitest';
import { findMissingLanguages } from './languages.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('a missing runtime of a language is a failure only if CI is set', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Neither the languages nor apt-get are on this search path.
  vi.stubEnv('PATH', import.meta.dirname);
  vi.stubEnv('CI', '');
  const missing = await findMissingLanguages();
  expect([...missing.keys()].map(({ name }) => name)).toEqual(['Python', 'Go', 'C#', 'Java', 'PHP', 'Ruby']);
  expect([...missing.values()][2]).toMatch(/^C# needs mcs and mono: (apt-get cannot install it|only root can)/);
  vi.stubEnv('CI', '1');
  await expect(findMissingLanguages()).rejects.toThrow(/^Python needs python3: .+\nGo needs go: /);
});
