import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The longest files first, so that none of them runs alone at the end: whatever starts a stack of its own. After them, in one go, the files that join the stack of their worker: it costs CPU for as long as it is there. The packages follow.
 * Besides, Vitest's own order: what took longest the last time, or the largest.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      if (project.name === 'packages') return 2;
      return readFileSync(moduleId, 'utf8').includes('joinWorld(') ? 1 : 0;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

const BLACK_BOX = {
  // The files of a worker run one after the other in one process, so that files that do not interfere with others share a stack.
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

// Unit and database tests of the packages; `tests/` runs real processes and is slower. `npm test` runs both, and `npm run test:faults` the
// fault tables, which take as long again.
export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // A system file starts up to seven processes: two at a time keep two cores busy (measured: 7 % idle over the whole run), and
    // more would only make each of them slow.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: [
            'libs/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'deploy/**/*.test.ts',
            '.ci/*.test.mjs',
            'bench/*.test.ts',
          ],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { ...BLACK_BOX, name: 'faults', include: ['tests/faults/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/faults/**'],
        },
      },
    ],
  },
});
