import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { MAX_VOID_REASON_CHARACTERS } from '@laurel/attempts/domain';
import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { encodePosition } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import { mergePages } from '../../domain/attempt-pages.ts';
import { z } from '../../http/zod.ts';
import { presentAttempt, presentOperatorAttempt, presentOperatorListedAttempt } from '../../presenters/attempt.ts';
import { findProgramFacts } from '../../repository/programs.ts';
import {
  attemptFilters,
  attemptLine,
  describeAttempt,
  describedAttempt,
  hasOneContest,
  listStartOf,
  ONE_CONTEST_ISSUE,
  readPages,
  readReceiptOf,
} from '../attempts.ts';
import { component, orNull } from '../component.ts';
import { environment, environmentName, id, nextCursor, page, pathId, text } from '../fields.ts';
import { defined } from '../run-route.ts';
import { attemptSchema } from '../v1/attempt-schemas.ts';
import { uuid } from '../v1/fields.ts';
import { payoutSchema } from './payouts.ts';
import { defineOperatorRoute } from './route.ts';

type AttemptReads = OwningServices & {
  readonly webhook: WebhookClient;
  readonly wallet: WalletClient;
  readonly database: Database;
};

const attemptQuery = z
  .object({
    program_id: id.optional().openapi({ description: 'Needed, with `environment`, unless there is an `account_id`.' }),
    environment: environment.optional().openapi({ description: 'Needed with `program_id`.' }),
    account_id: id.optional().openapi({ description: 'Only attempts that this account pays for.' }),
    ...attemptFilters,
    ...page,
  })
  .refine((query) => (query.program_id === undefined) === (query.environment === undefined), {
    message: 'must have `program_id` and `environment` together',
  })
  .refine((query) => query.program_id !== undefined || query.account_id !== undefined, {
    message: 'must have `program_id` and `environment`, or `account_id`',
  })
  .refine(hasOneContest, ONE_CONTEST_ISSUE);

const owners = {
  program_id: uuid,
  environment: environmentName,
  account_id: uuid.nullable().openapi({
    description: 'The account that pays; null for a free attempt of a player who was not linked.',
  }),
};

export const listAttempts = defineOperatorRoute({
  method: 'get',
  path: '/attempts',
  name: 'listAttempts',
  summary: 'List the attempts of a program or of an account',
  description:
    'An attempt is listed 2 seconds after its creation. A page of a program ends early where few of the attempts of that time match: an empty page with a `next_cursor` is not the last. So does a page of an account, which reads 500 of its attempts at challenges and 500 in rounds. Archived attempts are not listed.',
  query: attemptQuery,
  success: {
    status: 200,
    description: 'Newest first.',
    schema: component(
      'OperatorAttemptList',
      z.object({
        data: z.array(component('OperatorAttemptLine', attemptLine.extend(owners))),
        next_cursor: nextCursor,
      }),
    ),
  },
  run: async ({ query, options }, services: OwningServices & { readonly wallet: WalletClient }) => {
    const { program_id: programId, environment: inEnvironment, account_id, cursor, limit = MAX_PAGE_ROWS } = query;
    const from = listStartOf({ cursor });
    if (from === null) return refused('invalid_request', 'cursor: must be a next_cursor of this list');
    const isOfTenant = programId !== undefined && inEnvironment !== undefined;
    const tenant = isOfTenant ? { programId, environment: inEnvironment } : undefined;
    const programIds = tenant === undefined ? await programsOf(services.wallet, account_id ?? '', options) : [];
    const listed = { tenant, accountId: account_id ?? '', programIds, from, limit };
    const { rows, next } = mergePages('newest_first', await readPages(services, query, listed, options), limit);
    return {
      body: {
        data: rows.map((row) => presentOperatorListedAttempt(row.listed)),
        next_cursor: next === null ? null : encodePosition(next),
      },
    };
  },
});

/**
 * The programs that have linked the account: it can have attempts only in their contests. The list
 * is empty if the account is unknown.
 */
async function programsOf(wallet: WalletClient, accountId: string, options: { readonly requestId: string }) {
  const links = await wallet.listPlayerLinks({ accountId }, { ...options, retryLostReply: true });
  return isRefused(links) ? [] : links.programIds;
}

export const getAttempt = defineOperatorRoute({
  method: 'get',
  path: '/attempts/{attemptId}',
  name: 'getAttempt',
  summary: 'Read an attempt with its history, evidence and payout',
  description:
    'The history has what is stored, with the sends of its events to the endpoints of the developer of its program, and the deposits that make it good. This read changes nothing: an attempt whose time has run out is still `open` until it is expired.',
  params: z.object({ attemptId: pathId }),
  success: {
    status: 200,
    description: 'The attempt.',
    schema: component(
      'OperatorAttempt',
      describedAttempt.extend({
        ...owners,
        evidence: orNull(z.record(z.string(), z.unknown())).openapi({
          description:
            'As the partner reported it; null without an outcome, if none was sent, or if the attempt is archived.',
        }),
        payout: orNull(payoutSchema).openapi({
          description: "The payout of the attempt's award, or of the player's rank in the round.",
        }),
      }),
    ),
  },
  run: async ({ params: { attemptId }, options }, { webhook, wallet, database, ...services }: AttemptReads) => {
    const read = { ...options, retryLostReply: true };
    const request = { programId: '', attemptId, anyProgram: true };
    const described = await describeAttempt(services, request, read);
    if (isRefused(described)) return described;
    const { accountId, awardId, eventIds } = described;
    const receiptId = described.attempt?.outcome?.receiptId;
    const facts = await findProgramFacts(database, defined(described.tenant).programId);
    const developerId = isRefused(facts) ? null : facts.developerId;
    const [sent, receipt, paid, goodwill] = await Promise.all([
      developerId === null ? { deliveries: [] } : webhook.listDeliveriesOfEvents({ developerId, eventIds }, read),
      receiptId === undefined ? null : readReceiptOf(services, { attemptId, receiptId }, read),
      awardId === '' ? null : wallet.getPayout({ awardId }, read),
      // Only an attempt of an account can have goodwill deposits.
      accountId === '' ? { deposits: [] } : wallet.listGoodwill({ attemptId }, read),
    ]);
    if (isRefused(sent)) return sent;
    // The archive alone has the evidence of an archived attempt.
    const isArchived = receipt !== null && isRefused(receipt) && receipt.code === 'not_found';
    if (receipt !== null && isRefused(receipt) && !isArchived) return receipt;
    if (isRefused(goodwill)) return goodwill;
    return presentOperatorAttempt({
      described,
      deliveries: sent.deliveries,
      receiptJson: receipt === null || isRefused(receipt) ? null : receipt.receiptJson,
      // The wallet has no payout yet while the contest service still asks for it.
      payout: paid === null || isRefused(paid) ? null : defined(paid.payout),
      goodwill: goodwill.deposits,
    });
  },
});

export const voidAttempt = defineOperatorRoute({
  method: 'post',
  path: '/attempts/{attemptId}/void',
  name: 'voidAttempt',
  summary: 'Void an open attempt and return its fee',
  description:
    'Voids an attempt of any program, in test or live. The partner gets `attempt.refunded` with the reason `voided`. If the attempt has ended, the response is a `conflict`. If an earlier void was interrupted, this call completes it.',
  params: z.object({ attemptId: pathId }),
  body: component('VoidRequest', z.object({ reason: text(MAX_VOID_REASON_CHARACTERS) })),
  success: { status: 200, description: 'The attempt, voided.', schema: attemptSchema },
  refusals: { conflict: 'The attempt is not open.' },
  action: 'void_attempt',
  run: async ({ params: { attemptId }, body, options }, services: OwningServices) => {
    const service = serviceOf(services, attemptId);
    if (service === null) return refused('not_found');
    const voided = await service.voidAttempt({ attemptId, reason: body.reason }, options);
    return isRefused(voided) ? voided : presentAttempt(defined(voided.attempt));
  },
});
