import { isRefused } from '@laurel/errors';
import { formatAmount } from '@laurel/money';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { presentAccount } from '../../presenters/account.ts';
import { callOptions, mutation, notFound, parseBody, parseQuery, pathId, present, route } from '../api-route.ts';
import {
  email,
  environment,
  instant,
  jurisdiction,
  PAGE_LIMIT,
  page,
  positiveAmount,
  text,
  verificationLevel,
} from '../fields.ts';

const createAccount = z.object({
  email,
  date_of_birth: z.iso.date(),
  jurisdiction,
  verification_level: verificationLevel,
});

const changeAccount = z
  .strictObject({
    // Null ends a self-exclusion.
    self_excluded_until: instant.nullable().optional(),
    enforcement_flag: z.boolean().optional(),
    under_investigation: z.boolean().optional(),
    blocked: z.boolean().optional(),
    jurisdiction: jurisdiction.optional(),
    verification_level: verificationLevel.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something');

const deposit = z.object({ environment, amount: positiveAmount, reference: text(255) });

const statementQuery = z.object({ environment, ...page });

export function accountRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/accounts',
    mutation(deps, 'create_account', async (request) => {
      const body = parseBody(request, createAccount);
      if (isRefused(body)) return body;
      const created = await deps.wallet.createAccount(
        {
          email: body.email,
          dateOfBirth: body.date_of_birth,
          jurisdiction: body.jurisdiction,
          verificationLevel: body.verification_level,
        },
        callOptions(request),
      );
      if (isRefused(created)) return created;
      return { status: 201, body: presentAccount(present(created.account)) };
    }),
  );

  router.patch(
    '/accounts/:accountId',
    mutation(deps, 'change_account', async (request) => {
      const accountId = pathId(request, 'accountId');
      const body = parseBody(request, changeAccount);
      if (isRefused(body)) return body;
      if (accountId === null) return notFound();
      const updated = await deps.wallet.updateAccount(
        {
          accountId,
          selfExcludedUntil: body.self_excluded_until ?? undefined,
          clearSelfExclusion: body.self_excluded_until === null,
          enforcementFlag: body.enforcement_flag,
          underInvestigation: body.under_investigation,
          blocked: body.blocked,
          jurisdiction: body.jurisdiction,
          verificationLevel: body.verification_level,
        },
        callOptions(request),
      );
      if (isRefused(updated)) return updated;
      return { status: 200, body: presentAccount(present(updated.account)), logged: { changed: Object.keys(body) } };
    }),
  );

  router.post(
    '/accounts/:accountId/deposits',
    mutation(deps, 'deposit', async (request) => {
      const accountId = pathId(request, 'accountId');
      const body = parseBody(request, deposit);
      if (isRefused(body)) return body;
      if (accountId === null) return notFound();
      const deposited = await deps.wallet.deposit(
        { accountId, environment: body.environment, amountCents: body.amount, reference: body.reference },
        callOptions(request),
      );
      if (isRefused(deposited)) return deposited;
      return {
        status: 201,
        body: { balance: formatAmount(deposited.balanceCents) },
        logged: { amount: formatAmount(body.amount) },
      };
    }),
  );

  router.get(
    '/accounts/:accountId/statement',
    route(async (request) => {
      const accountId = pathId(request, 'accountId');
      const query = parseQuery(request, statementQuery);
      if (isRefused(query)) return query;
      if (accountId === null) return notFound();
      const statement = await deps.wallet.getStatement(
        { accountId, environment: query.environment, limit: query.limit ?? PAGE_LIMIT, cursor: query.cursor ?? '' },
        callOptions(request),
      );
      if (isRefused(statement)) return statement;
      const lines = statement.lines.map((line) => ({
        id: line.id,
        kind: line.kind,
        amount: formatAmount(line.amountCents),
        balance_after: formatAmount(line.balanceAfterCents),
        reference: line.reference,
        created_at: present(line.createdAt).toISOString(),
      }));
      const nextCursor = statement.nextCursor || null;
      return {
        status: 200,
        body: { balance: formatAmount(statement.balanceCents), data: lines, next_cursor: nextCursor },
      };
    }),
  );
}
