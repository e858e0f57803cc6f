import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALL_VARIABLE, JOINING_IN_CONTAINERS, ONLY_ON_PROCESSES } from './tests/compose/joining-files.ts';

/** Seconds that the longest files take, for a machine that has not measured them yet. */
const SECONDS: Readonly<Record<string, number>> = JSON.parse(readFileSync('.ci/durations.json', 'utf8'));

/** Black-box files that call one of these. */
function filesThatCall(call: RegExp): string[] {
  return globSync('tests/**/*.test.ts').filter((file) => call.test(readFileSync(file, 'utf8')));
}

/** Files of the project `clients` that share the stack of their worker. */
const SHARING_CLIENTS = new Set(
  filesThatCall(/\b(joinWorld|useGame|openPortal|openOperator)\(/).filter((file) =>
    /^tests\/(clients|portal|operator)\//.test(file),
  ),
);

/**
 * Starts the longest files first, so that none runs alone at the end. Files that share the stack of
 * their worker come before all others: the stack costs CPU while it is up, and Vitest ends a worker
 * as soon as the next file is of another project.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const pathOf = ({ moduleId }: TestSpecification) => relative(import.meta.dirname, moduleId);
    const rank = (file: TestSpecification) => {
      if (file.project.name.startsWith('packages')) return 2;
      return file.project.name === 'system' || SHARING_CLIENTS.has(pathOf(file)) ? 0 : 1;
    };
    const seconds = (file: TestSpecification) => SECONDS[pathOf(file)] ?? 0;
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other) || seconds(other) - seconds(one));
  }
}

/** Folders of tests/ that are a project of their own. */
const PROJECTS_OF_THEIR_OWN = 'tests/{faults,rolling,restore,compose,clients,portal,operator}/**';

/** Files that run on any stack: their worker's, or the containers of `test:compose -- --all`. */
const JOINING = filesThatCall(/\b(joinWorld|useGame)\(/).filter(
  (file) => !/^tests\/(compose|clients|portal|operator)\//.test(file),
);

const IN_CONTAINERS =
  process.env[ALL_VARIABLE] === undefined
    ? Object.keys(JOINING_IN_CONTAINERS)
    : JOINING.filter((file) => !ONLY_ON_PROCESSES.includes(file));

/**
 * Files with stacks of their own: replicas, other settings, failpoints, logs, a digest of all rows.
 */
const STACKS = filesThatCall(/\b(startWorld|startStack|describeFaults)\(/);

/** A black-box test first starts up to seven processes: over a minute on a loaded machine. */
const BLACK_BOX = { isolate: false, testTimeout: 60_000, hookTimeout: 180_000 };

const PACKAGES = [
  'libs/*/src/**/*.test.ts',
  'services/*/src/**/*.test.ts',
  'apps/*/src/**/*.test.ts',
  'deploy/**/*.test.ts',
  'docs/site/**/*.test.ts',
  '.ci/*.test.mjs',
  'bench/*.test.ts',
  // The parts of the compose tests that need no container engine, and what they prepare.
  'tests/compose/{child,leftovers,joining-files}.test.ts',
  'tests/file-lock.test.ts',
];

/**
 * Proofs whose size is the point (thousands of entrants, a hundred endpoints that hang), and
 * promises in seconds, which need a machine that does nothing else.
 */
const LONG = ['{libs,services,apps,deploy,tests,bench}/**/*.long.test.ts'];

/** Long files without a promise in seconds: they run two at a time, before the others. */
const LONG_SIDE_BY_SIDE = [
  'deploy/local/demo/demo.long.test.ts',
  'libs/local-infrastructure/src/embedded-postgres.long.test.ts',
  'services/tournament/src/round.model.long.test.ts',
  'tests/money/signing-keys.long.test.ts',
  'tests/security/rotate-{pepper,secrets}.long.test.ts',
];

/**
 * Files that arm failpoints in their own process, whose modules read the failpoints' folder once.
 */
const FAILPOINTS = [
  'libs/failpoint/src/index.test.ts',
  'services/challenge/src/events.test.ts',
  'services/challenge/src/commits/reserve-attempts.test.ts',
  'services/challenge/src/workers/crash.test.ts',
  'services/tournament/src/events.test.ts',
  'services/tournament/src/events.stream.test.ts',
  'services/integration/src/workers/poll-leases.test.ts',
  'services/tournament/src/commits/reserve-attempts.test.ts',
  'services/webhook/src/workers/crash.test.ts',
];

/** Set in `npm run test:laws`: how many times as many cases each law draws. */
const IS_LAWS = process.env.LAUREL_LAW_TIMES !== undefined;

const LONG_LAWS = { testTimeout: 1_800_000, hookTimeout: 120_000 };

/** The files that state a law. */
const LAWS = globSync(PACKAGES).filter((file) => /\bfc\.assert\(/.test(readFileSync(file, 'utf8')));

/**
 * Black-box proofs with stacks of their own wait more than they compute: three at a time. All
 * projects of one group have the same number of workers.
 */
const PROOFS = { ...BLACK_BOX, maxWorkers: 3, sequence: { groupOrder: 1 } };

// `npm test` runs the packages' unit and database tests, and the black-box tests that share a
// stack.
// `npm run test:proofs` runs all others but the containers: files with stacks of their own, the
// fault tables, a rolling release, restored backups, what partners install, the long proofs. Each
// is a project with its own script.
// `npm run test:compose` has its own entry; `npm run test:laws` draws more cases for each law.
//
// In a project that is not isolated, a worker runs its files one after the other in one process.
// Each module loads once (measured over 41 files: 60 s of CPU, not 82 s), and black-box files share
// a stack.
export default defineConfig({
  resolve: IS_LAWS
    ? { alias: [{ find: /^fast-check$/, replacement: resolve('libs/testing/src/longer-laws.ts') }] }
    : {},
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    setupFiles: ['libs/testing/src/law-seed.ts'],
    // A system file starts up to seven processes: two at a time keep two cores busy (measured: 7 %
    // idle).
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A loaded machine may deliver an event late; Vitest's default is one second.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'packages', isolate: false, include: PACKAGES, exclude: [...LONG, ...FAILPOINTS] },
      },
      { extends: true, test: { name: 'packages-failpoints', include: FAILPOINTS } },
      ...(IS_LAWS ? [{ extends: true as const, test: { name: 'laws', include: LAWS, ...LONG_LAWS } }] : []),
      {
        extends: true,
        test: {
          ...PROOFS,
          name: 'long-side-by-side',
          isolate: true,
          include: LONG_SIDE_BY_SIDE,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
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
          sequence: { groupOrder: 2 },
        },
      },
      { extends: true, test: { ...PROOFS, name: 'faults', include: ['tests/faults/**/*.test.ts'] } },
      { extends: true, test: { ...PROOFS, name: 'rolling', include: ['tests/rolling/**/*.test.ts'] } },
      { extends: true, test: { ...PROOFS, name: 'restore', include: ['tests/restore/**/*.test.ts'] } },
      {
        extends: true,
        test: { ...PROOFS, name: 'clients', include: ['tests/{clients,portal,operator}/**/*.test.ts'] },
      },
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
        test: { ...PROOFS, name: 'stacks', include: STACKS, exclude: [PROJECTS_OF_THEIR_OWN, ...LONG] },
      },
      // The faults run last and alone: they break the stack that the others use.
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'compose',
          // Two at a time on one stack: each has its own programs, players and contests, and awaits
          // only their events.
          include: [...IN_CONTAINERS, 'tests/compose/{demo,observability,one-process,security}.test.ts'],
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...BLACK_BOX,
          name: 'compose-faults',
          include: ['tests/compose/faults.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
