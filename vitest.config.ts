import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The longest files first, so that none of them runs alone at the end: the fault table, then whatever else starts a stack of its own.
 * After them, in one go, the files that join the stack of their worker: it costs CPU for as long as it is there. The packages follow.
 * Besides, Vitest's own order: what took longest the last time, or the largest.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      if (project.name !== 'system') return 3;
      if (moduleId.includes('/tests/faults/')) return 0;
      return readFileSync(moduleId, 'utf8').includes('joinWorld(') ? 2 : 1;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

// Unit and database tests of the packages; `tests/` runs real processes and is slower, so both are projects of one run.
export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // A system file starts up to seven processes: two at a time keep two cores busy (measured: 7 % idle over the whole of them), and
    // more would only make each of them slow.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['libs/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'deploy/**/*.test.ts'],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          // The files of a worker come one after the other in one process, so that those that disturb no other share a stack.
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
