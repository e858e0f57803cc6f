/** The pages that `operator.test.ts` opens. A page adds one line. */
import { expectStatus, type SharedWorld } from '../world.ts';
import { newHeldPayout } from './payout-items.ts';

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
  { path: '/payouts', heading: 'Payouts', item: async (world) => (await newHeldPayout(world)).award_id },
  { path: '/payouts?status=denied', heading: 'Payouts' },
  { path: '/money', heading: 'Money' },
  { path: '/money?period=month&program_id={item}', heading: 'Money', item: async ({ program }) => program.id },
  { path: '/audit', heading: 'Audit' },
  { path: '/actions', heading: 'Actions' },
  { path: '/actions?actor=nobody', heading: 'Actions' },
  { path: '/actions?subject=program:{item}', heading: 'Actions', item: async ({ program }) => program.id },
  { path: '/nothing', heading: 'Page not found' },
];

/** The pages with the ids of items that are made now. */
export async function makePages(world: SharedWorld): Promise<readonly OperatorPage[]> {
  const made: OperatorPage[] = [];
  for (const page of OPERATOR_PAGES) {
    made.push({ ...page, path: page.path.replace('{item}', (await page.item?.(world)) ?? '') });
  }
  return made;
}
