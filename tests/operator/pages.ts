/** The pages that `operator.test.ts` opens. A new page adds one line. */
import { newPlayedChallenge, newPlayedRound } from '../portal/contest-items.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { newOpenAttempt } from './attempt-items.ts';
import { newHeldPayout, newHeldRank } from './payout-items.ts';

export interface OperatorPage {
  /** The address below `/operator`. `{item}` is the page's item. */
  readonly path: string;
  /** The heading that shows that the page has loaded. */
  readonly heading: string | RegExp;
  /** Makes the item of a page that shows one, and resolves to its id. */
  readonly item?: (world: SharedWorld) => Promise<string>;
}

const OPERATOR_PAGES: readonly OperatorPage[] = [
  { path: '/sign-in', heading: 'Sign in as an operator' },
  { path: '/programs', heading: 'Programs' },
  {
    path: '/programs/{item}',
    heading: 'Draft arcade',
    item: async ({ operator }) => expectStatus(201, await operator.createProgram('Draft arcade')).body.id,
  },
  { path: '/programs/{item}', heading: /./, item: async ({ program }) => program.id },
  { path: '/programs/{item}/challenges', heading: 'Challenges', item: async ({ program }) => program.id },
  {
    path: '/programs/{item}/challenges?environment=test',
    heading: 'Challenges',
    item: async (world) => {
      await world.newChallenge();
      return world.program.id;
    },
  },
  {
    path: '/programs/{item}/challenges/new?environment=test',
    heading: 'Create a challenge',
    item: async ({ program }) => program.id,
  },
  {
    path: '/challenges/{item}',
    heading: 'Harbour run',
    item: async (world) => (await newPlayedChallenge(world, world)).id,
  },
  {
    path: '/challenges/{item}',
    heading: 'Unplaced bar',
    item: async (world) =>
      (await world.newChallenge({ name: 'Unplaced bar', status: 'calibrating', threshold: null })).id,
  },
  {
    path: '/programs/{item}/tournaments?environment=test',
    heading: 'Tournaments',
    item: async (world) => {
      await world.newTournament();
      return world.program.id;
    },
  },
  {
    path: '/programs/{item}/tournaments/new',
    heading: 'Create a tournament',
    item: async ({ program }) => program.id,
  },
  {
    path: '/tournaments/{item}',
    heading: 'Friday cup',
    item: async (world) =>
      (await world.newTournament({ description: 'The best of the week.', round_length_seconds: 3_600 })).id,
  },
  {
    path: '/rounds/{item}',
    heading: / UTC$/,
    item: async (world) => {
      const { round } = await newPlayedRound(world, world);
      await world.partner.closeRound(round.id);
      return round.id;
    },
  },
  {
    path: '/rounds/{item}',
    heading: / UTC$/,
    item: async (world) => {
      const { round } = await newPlayedRound(world, world);
      await world.operator.cancelRound(round.id, 'A bug of the game.');
      return round.id;
    },
  },
  { path: '/payouts', heading: 'Payouts', item: async (world) => (await newHeldPayout(world)).award_id },
  { path: '/payouts?status=denied', heading: 'Payouts' },
  { path: '/accounts', heading: 'Accounts', item: async (world) => (await world.newPlayer()).accountId },
  { path: '/accounts?player_ref=nobody', heading: 'Accounts' },
  { path: '/accounts/{item}', heading: /@/, item: async (world) => (await newHeldPayout(world)).player.accountId },
  {
    path: '/accounts/{item}?environment=test',
    heading: /@/,
    item: async (world) => (await world.newPlayer({ environment: 'live' })).accountId,
  },
  { path: '/developers', heading: 'Developers' },
  {
    path: '/developers?email={item}',
    heading: 'Developers',
    item: async (world) => (await world.newDeveloper()).email,
  },
  { path: '/search', heading: 'Search' },
  { path: '/search?q=nobody', heading: 'Search' },
  { path: '/search?q=nobody&program_id={item}', heading: 'Search', item: async ({ program }) => program.id },
  { path: '/attempts', heading: 'Attempts' },
  { path: '/attempts?program_id={item}', heading: 'Attempts', item: async ({ program }) => program.id },
  {
    path: '/attempts?program_id={item}&environment=test',
    heading: 'Attempts',
    item: async ({ program }) => program.id,
  },
  { path: '/attempts/{item}', heading: 'Attempt', item: async (world) => (await newHeldPayout(world)).attemptId },
  { path: '/attempts/{item}', heading: 'Attempt', item: async (world) => (await newOpenAttempt(world)).attemptId },
  {
    path: '/payouts/{item}',
    heading: 'Payout of $5.00',
    item: async (world) => (await newHeldPayout(world)).award_id,
  },
  { path: '/payouts/{item}', heading: 'Payout of $5.00', item: async (world) => (await newHeldRank(world)).award_id },
  { path: '/money', heading: 'Money' },
  { path: '/money?period=month&program_id={item}', heading: 'Money', item: async ({ program }) => program.id },
  { path: '/audit', heading: 'Audit' },
  { path: '/actions', heading: 'Actions' },
  { path: '/actions?actor=nobody', heading: 'Actions' },
  { path: '/actions?subject=program:{item}', heading: 'Actions', item: async ({ program }) => program.id },
  { path: '/nothing', heading: 'Page not found' },
];

/** Makes the items of the pages. Returns the pages with the ids of their items. */
export async function makePages(world: SharedWorld): Promise<readonly OperatorPage[]> {
  return Promise.all(
    OPERATOR_PAGES.map(async (page) => ({
      ...page,
      path: page.path.replace('{item}', (await page.item?.(world)) ?? ''),
    })),
  );
}
