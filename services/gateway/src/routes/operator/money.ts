import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { cutPage } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';
import { millisecondsBetween } from '@laurel/values/instant';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { presentMoneyOfDay, presentMoneyOfEnvironment, presentMoneyOfProgram } from '../../presenters/money.ts';
import { findProgramNames } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { day, environment, environmentName, id, nextCursor, pageOf, signedAmount } from '../fields.ts';
import { amount, timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

/**
 * The longest period: the days of a quarter. To read a month of a thousand programs takes some 30
 * ms.
 */
const MAX_DAYS = 92;
const DAY_MS = 86_400_000;
const MAX_PROGRAMS = 100;

const sums = {
  fees: amount.openapi({ description: 'Fees that were charged, refunded ones included.' }),
  refunds: amount.openapi({ description: 'Fees that were returned, whenever they were charged.' }),
  paid: amount.openapi({ description: 'Payouts that were paid, whenever they were won.' }),
  held: amount.openapi({ description: 'Payouts that were put on hold, whatever was decided since.' }),
  denied: amount.openapi({ description: 'Payouts that were denied, whenever they were put on hold.' }),
  kept: signedAmount.openapi({
    description: '`fees` less `refunds` and `paid`: what the house keeps; may be negative.',
  }),
};

const moneySchema = component(
  'Money',
  z.object({
    counted_at: timestamp.nullable().openapi({
      description:
        'What happened later is not in the sums yet. A day is closed 15 minutes after its end, and is final then. Null before the first count.',
    }),
    environments: z.array(
      component(
        'MoneyOfEnvironment',
        z.object({
          environment: environmentName,
          ...sums,
          house: signedAmount.openapi({
            description: 'What the house keeps since the beginning, deposits apart; may be negative.',
          }),
          held_now: amount.openapi({
            description: 'Payouts that are held now, among the newest 10,000 held ones of all programs.',
          }),
        }),
      ),
    ),
    days: z
      .array(component('MoneyOfDay', z.object({ day: z.iso.date(), environment: environmentName, ...sums })))
      .openapi({ description: 'Days with money, oldest first.' }),
    data: z.array(
      component(
        'MoneyOfProgram',
        z.object({
          program_id: uuid.nullable().openapi({
            description: 'Null: fees from before the ledger named their program.',
          }),
          name: z.string().nullable().openapi({ description: 'Null where the program is not known.' }),
          environment: environmentName,
          ...sums,
        }),
      ),
    ),
    next_cursor: nextCursor,
  }),
);

export const getMoney = defineOperatorRoute({
  method: 'get',
  path: '/money',
  name: 'getMoney',
  summary: 'Read the money of a period of UTC days, by program and environment',
  description: `At most ${MAX_DAYS} days. The sums of the environments and of the days are over all programs, whatever the page.`,
  query: z
    .object({
      from: day.openapi({ description: 'The first UTC day.' }),
      to: day.openapi({ description: 'The last UTC day, which is included.' }),
      environment: environment.optional().openapi({ description: 'Only this one. If absent, both.' }),
      program_id: id.optional().openapi({ description: 'Only this program.' }),
      ...pageOf(MAX_PROGRAMS),
    })
    .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be before from' })
    .refine(({ from, to }) => millisecondsBetween(new Date(from), new Date(to)) < MAX_DAYS * DAY_MS, {
      path: ['to'],
      message: `must be within ${MAX_DAYS} days of from`,
    }),
  success: {
    status: 200,
    description: 'Programs with money in the period, newest first, those of test before those of live.',
    schema: moneySchema,
  },
  run: async ({ query, options }, { database, wallet }: { database: Database; wallet: WalletClient }) => {
    const { from, to, environment: only = Environment.UNSPECIFIED, program_id: programId, cursor } = query;
    const { limit = MAX_PROGRAMS } = query;
    if (cursor !== undefined && !isUuid(cursor)) {
      return refused('invalid_request', 'cursor: must be a next_cursor of this list');
    }
    const money = await wallet.getMoney(
      // One program more than requested shows whether another page follows.
      { from, to, environment: only, programId, beforeProgramId: cursor, limit: limit + 1 },
      options,
    );
    if (isRefused(money)) return money;
    const ids = [...new Set(money.programs.map(({ tenant }) => tenant?.programId ?? ''))];
    const { page, last } = cutPage(ids, limit);
    const names = await findProgramNames(database, page);
    return {
      body: {
        counted_at: money.countedAt?.toISOString() ?? null,
        environments: money.environments.map(presentMoneyOfEnvironment),
        days: money.days.map(presentMoneyOfDay),
        data: money.programs
          .filter(({ tenant }) => page.includes(tenant?.programId ?? ''))
          .map((one) => presentMoneyOfProgram(one, names)),
        next_cursor: last ?? null,
      },
    };
  },
});
