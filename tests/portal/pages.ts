/** The pages that `portal.test.ts` opens. A new page adds one line. */
import { createIntegrations } from '@laurel/testing';
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';
import { newWonAttempt } from './attempt-items.ts';
import { newPlayedChallenge, newPlayedRound } from './contest-items.ts';
import { newLoggedRequest } from './request-items.ts';
import { newDelivery } from './webhook-items.ts';

export interface PortalPage {
  /** The address below `/portal`. `{program}` is the test's program, `{item}` the page's item. */
  readonly path: string;
  /** The heading that shows that the page has loaded. */
  readonly heading: string | RegExp;
  /** Makes the item of a page that shows one, and resolves to its id. */
  readonly item?: (world: SharedWorld, developer: Developer) => Promise<string>;
}

const PORTAL_PAGES: readonly PortalPage[] = [
  { path: '/sign-in', heading: 'Sign in to Laurel' },
  { path: '/programs', heading: 'Programs' },
  { path: '/p/{program}/live/challenges', heading: 'Challenges' },
  { path: '/p/{program}/test/challenges', heading: 'Challenges' },
  {
    path: '/p/{program}/test/challenges/{item}',
    heading: 'Harbour run',
    item: async (world, developer) => (await newPlayedChallenge(world, developer)).id,
  },
  {
    path: '/p/{program}/test/challenges/{item}',
    heading: 'Calibrating',
    item: async (world, { program }) =>
      (await world.newChallenge({ name: 'Calibrating', status: 'calibrating', threshold: null }, program)).id,
  },
  { path: '/p/{program}/live/tournaments', heading: 'Tournaments' },
  { path: '/p/{program}/test/tournaments', heading: 'Tournaments' },
  {
    path: '/p/{program}/test/tournaments/{item}',
    heading: 'Harbour cup',
    item: async (world, developer) => (await newPlayedRound(world, developer)).round.tournament_id,
  },
  {
    path: '/p/{program}/test/rounds/{item}',
    heading: /^Round of /,
    item: async (world, developer) => (await newPlayedRound(world, developer)).round.id,
  },
  {
    path: '/p/{program}/test/rounds/{item}',
    heading: /^Round of /,
    item: async (world, developer) => {
      const { round } = await newPlayedRound(world, developer);
      await developer.program.test.closeRound(round.id);
      return round.id;
    },
  },
  { path: '/p/{program}/live/attempts', heading: 'Attempts' },
  { path: '/p/{program}/test/attempts', heading: 'Attempts' },
  { path: '/p/{program}/test/attempts?player_ref=nobody', heading: 'Attempts' },
  {
    path: '/p/{program}/test/attempts/{item}',
    heading: 'Attempt',
    item: async (world, developer) => (await newWonAttempt(world, developer)).attempt.id,
  },
  { path: '/p/{program}/test/overview', heading: 'Overview' },
  { path: '/p/{program}/live/overview?hours=168', heading: 'Overview' },
  { path: '/p/{program}/test/requests', heading: 'Requests' },
  { path: '/p/{program}/live/requests?status=5xx', heading: 'Requests' },
  {
    path: '/p/{program}/test/requests/{item}',
    heading: 'Request',
    item: (_world, developer) => newLoggedRequest(developer),
  },
  { path: '/p/{program}/live/webhooks', heading: 'Webhooks' },
  { path: '/p/{program}/test/webhooks', heading: 'Webhooks' },
  {
    path: '/p/{program}/test/webhooks/{item}',
    heading: 'Endpoint',
    item: async (world, developer) => (await newDelivery(world, developer)).endpointId,
  },
  {
    path: '/p/{program}/test/deliveries/{item}',
    heading: 'Delivery',
    item: async (world, developer) => (await newDelivery(world, developer)).deliveryId,
  },
  { path: '/p/{program}/test/events', heading: 'Events' },
  { path: '/p/{program}/test/signatures', heading: 'Signatures' },
  { path: '/p/{program}/test/integrations', heading: 'Integrations' },
  {
    path: '/p/{program}/test/integrations/{item}',
    heading: 'Integration',
    item: async (_world, { program }) =>
      expectStatus(201, await createIntegrations(program.test).create({ transport: 'push_webhook' })).body.id,
  },
  { path: '/p/{program}/test/sandbox', heading: 'Sandbox' },
  { path: '/p/{program}/live/sandbox', heading: 'Sandbox' },
  { path: '/p/{program}/test/keys', heading: 'API keys' },
  { path: '/p/{program}/live/keys', heading: 'API keys' },
  { path: '/nothing', heading: 'Page not found' },
];

/** Creates the item that each page shows. Returns the pages with real ids in their paths. */
export async function makePages(world: SharedWorld, developer: Developer): Promise<readonly PortalPage[]> {
  return Promise.all(
    PORTAL_PAGES.map(async (page) => {
      const item = (await page.item?.(world, developer)) ?? '';
      return { ...page, path: page.path.replace('{program}', developer.program.id).replace('{item}', item) };
    }),
  );
}
