/** The start page of a program: its first steps, and numbers of the last hours. */
import { isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import { later, millisecondsOf } from '@laurel/values/instant';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import { MAX_OVERVIEW_HOURS } from '../../domain/overview-period.ts';
import { z } from '../../http/zod.ts';
import { presentOverview } from '../../presenters/overview.ts';
import { firstRequests, summarizeRequests } from '../../repository/requests.ts';
import { inEnvironment, pastHours } from '../fields.ts';
import { overviewSchema } from '../overview.ts';
import { defineProgramRoute } from './program-route.ts';

const HOUR_MS = 3_600_000;
/** Requests are counted in intervals of five minutes. */
const STEP_MS = 300_000;

interface Overviews {
  readonly database: Database;
  readonly clock: Clock;
  readonly wallet: WalletClient;
  readonly webhook: WebhookClient;
}

export const getProgramOverview = defineProgramRoute({
  method: 'get',
  path: '/overview',
  name: 'getProgramOverview',
  summary: 'Get the first steps of a program, and numbers of the last hours',
  query: z.object({ ...inEnvironment, hours: pastHours(MAX_OVERVIEW_HOURS) }),
  success: { status: 200, description: 'The numbers of one environment.', schema: overviewSchema },
  run: async (
    { caller: { developerId, program }, query, options },
    { database, wallet, webhook, clock }: Overviews,
  ) => {
    const { environment, hours } = query;
    const tenant = { programId: program.id, environment };
    const scope = { programId: program.id, environment: nameOf(ENVIRONMENTS, environment) };
    const to = new Date(Math.ceil(millisecondsOf(clock()) / STEP_MS) * STEP_MS);
    const from = later(to, -hours * HOUR_MS);
    const buckets = hours <= 48 ? hours : Math.ceil(hours / 6);
    const [requests, firsts, money, deliveries] = await Promise.all([
      summarizeRequests(database, { ...scope, from, to, buckets }),
      firstRequests(database, scope),
      wallet.getProgramMoney({ tenant, since: from }, options),
      webhook.summarizeDeliveries({ developerId, tenant, from }, options),
    ]);
    if (isRefused(money)) return money;
    if (isRefused(deliveries)) return deliveries;
    return { body: presentOverview({ environment, hours, from, to, requests, firsts, money, deliveries }) };
  },
});
