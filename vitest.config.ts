import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALL_VARIABLE, JOINING_IN_CONTAINERS } from './tests/compose/joining-files.ts';

/**
 * In one go, the files that join the stack of their worker: it costs CPU for as long as it is there. The packages follow, so that no long file
 * runs alone at the end. Besides, Vitest's own order: what took longest the last time, or the largest.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => (project.name.startsWith('packages') ? 1 : 0);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Black-box files that call one of these. */
function filesThatCall(call: RegExp): string[] {
  return globSync('tests/**/*.test.ts').filter((file) => call.test(readFileSync(file, 'utf8')));
}

/** Folders of tests/ that are a project of their own. */
const PROJECTS_OF_THEIR_OWN = 'tests/{faults,rolling,restore,compose,clients}/**';

/** The files that run on any stack: their worker's, or the containers of `npm run test:compose -- --all`. */
const JOINING = filesThatCall(/\b(joinWorld|useGame)\(/).filter((file) => !/^tests\/(compose|clients)\//.test(file));

const IN_CONTAINERS = process.env[ALL_VARIABLE] === undefined ? Object.keys(JOINING_IN_CONTAINERS) : JOINING;

/** The files with a stack of their own, or several: replicas, other settings, failpoints, logs, a fingerprint of all rows. */
const STACKS = filesThatCall(/\b(startWorld|startStack)\(/);

/** Black-box tests begin with the start of up to seven processes, which takes longer than a minute on a loaded machine. */
const BLACK_BOX = { isolate: false, testTimeout: 60_000, hookTimeout: 180_000 };

const PACKAGES = [
  'libs/*/src/**/*.test.ts',
  'services/*/src/**/*.test.ts',
  'deploy/**/*.test.ts',
  'docs/site/**/*.test.ts',
  '.ci/*.test.mjs',
  'bench/*.test.ts',
  // What starts and removes the containers, as far as no engine is needed for it, and what is prepared beside the tests.
  'tests/compose/{child,leftovers,joining-files}.test.ts',
  'tests/file-lock.test.ts',
];

/** Proofs whose size is the point, thousands of entrants or a hundred endpoints that hang; and promises in seconds, on a machine that does nothing else. */
const LONG = ['{libs,services,deploy,tests,bench}/**/*.long.test.ts'];

/** Of those, the ones without a promise in seconds: two at a time, before the others. */
const LONG_SIDE_BY_SIDE = [
  'deploy/local/demo.long.test.ts',
  'libs/local-infrastructure/src/embedded-postgres.long.test.ts',
  'services/tournament/src/round.model.long.test.ts',
  'tests/money/signing-keys.long.test.ts',
  'tests/security/rotate-{pepper,secrets}.long.test.ts',
];

/** They arm failpoints in their own process, whose modules read the folder of the failpoints once. */
const FAILPOINTS = [
  'libs/failpoint/src/index.test.ts',
  'services/challenge/src/events.test.ts',
  'services/challenge/src/handlers/reserve-attempts.test.ts',
  'services/challenge/src/workers/crash.test.ts',
  'services/tournament/src/events.test.ts',
  'services/tournament/src/events.stream.test.ts',
  'services/integration/src/workers/poll-leases.test.ts',
  'services/tournament/src/handlers/reserve-attempts.test.ts',
  'services/webhook/src/workers/crash.test.ts',
];

// Unit and database tests of the packages, and the black-box tests that share a stack: `npm test` runs both. `npm run test:stacks` runs those
// that start stacks of their own, each of which takes as long as many tests; `npm run test:long` and
// `npm run test:faults` the proofs that take minutes each; `npm run test:rolling` needs the previous release beside this checkout,
// `npm run test:restore` restores databases from their backups, `npm run test:clients` packs what partners install and opens a browser, and
// `npm run test:compose` has its own entry.
// Where a project is not isolated, a worker runs its files one after the other in one process: each module is loaded once, not once for
// each file (measured over 41 files: 60 s of CPU in place of 82 s), and black-box files that do not interfere with others share a stack.
export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // A system file starts up to seven processes: two at a time keep two cores busy (measured: 7 % idle over the whole run), and
    // more would only make each of them slow.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // An event is awaited as long as a loaded machine may take; Vitest's default is a second.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'packages', isolate: false, include: PACKAGES, exclude: [...LONG, ...FAILPOINTS] },
      },
      { extends: true, test: { name: 'packages-failpoints', include: FAILPOINTS } },
      {
        extends: true,
        test: { name: 'long-side-by-side', include: LONG_SIDE_BY_SIDE, testTimeout: 300_000, hookTimeout: 300_000 },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: LONG,
          exclude: LONG_SIDE_BY_SIDE,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { ...BLACK_BOX, name: 'faults', include: ['tests/faults/**/*.test.ts'] } },
      { extends: true, test: { ...BLACK_BOX, name: 'rolling', include: ['tests/rolling/**/*.test.ts'] } },
      { extends: true, test: { ...BLACK_BOX, name: 'restore', include: ['tests/restore/**/*.test.ts'] } },
      { extends: true, test: { ...BLACK_BOX, name: 'clients', include: ['tests/clients/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: [PROJECTS_OF_THEIR_OWN, ...LONG, ...STACKS, ...PACKAGES],
        },
      },
      {
        extends: true,
        test: { ...BLACK_BOX, name: 'stacks', include: STACKS, exclude: [PROJECTS_OF_THEIR_OWN, ...LONG] },
      },
      // The faults come last and alone: the stack is the same, and they break it.
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'compose',
          // Two at a time on one stack: each has programs, players and contests of its own, and waits for no one else's events.
          include: [...IN_CONTAINERS, 'tests/compose/{demo,observability,security}.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'compose-faults',
          include: ['tests/compose/faults.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
