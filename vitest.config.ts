import { defineConfig } from 'vitest/config';

// Unit and database tests of the packages; `tests/` runs real processes and is slower, so both are projects of one run.
export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // A system file starts up to seven processes and then mostly waits for them: two at a time keep two cores busy, and more
    // would only make each of them slow.
    maxWorkers: 2,
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
