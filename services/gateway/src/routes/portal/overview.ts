/** The start page of a program: its first steps, and numbers of the last hours. */
import { isRefused } from '@laurel/errors';
import { later } from '@laurel/instant';
import type { Clock } from '@laurel/service';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { presentOverview } from '../../presenters/overview.ts';
import { pastHours } from '../fields.ts';
import { overviewSchema } from '../overview.ts';
import { defineProgramRoute, inEnvironment } from './program-route.ts';

const HOUR_MS = 3_600_000;

interface Overviews {
  readonly clock: Clock;
  readonly wallet: WalletClient;
  readonly webhook: WebhookClient;
}

export const getProgramOverview = defineProgramRoute({
  method: 'get',
  path: '/overview',
  name: 'getProgramOverview',
  summary: 'Get the first steps of a program, and numbers of the last hours',
  query: z.object({ ...inEnvironment, hours: pastHours(168) }),
  success: { status: 200, description: 'The numbers of one environment.', schema: overviewSchema },
  run: async ({ caller: { developerId, program }, query, options }, { wallet, webhook, clock }: Overviews) => {
    const { environment, hours } = query;
    const tenant = { programId: program.id, environment };
    const to = clock();
    const from = later(to, -hours * HOUR_MS);
    const [money, deliveries] = await Promise.all([
      wallet.getProgramMoney({ tenant, since: from }, options),
      webhook.summarizeDeliveries({ developerId, tenant, from }, options),
    ]);
    if (isRefused(money)) return money;
    if (isRefused(deliveries)) return deliveries;
    return { body: presentOverview({ environment, hours, from, to, money, deliveries }) };
  },
});
