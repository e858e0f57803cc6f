import { defineConfig } from 'vitest/config';

// Unit and database tests of the packages; `tests/` runs real processes and is slower, so both are projects of one run.
export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['libs/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'deploy/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: { name: 'system', include: ['tests/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
      },
    ],
  },
});
