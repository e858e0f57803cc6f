import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { MAX_PAGE_ROWS, MAX_REFERENCE_CHARACTERS } from '@laurel/values/limits';
import { formatAmount } from '@laurel/values/money';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { presentAccount, presentCharges } from '../../presenters/account.ts';
import { findProgram } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { eligibilityChange, toEligibility } from '../eligibility.ts';
import {
  amount as amountField,
  CHANGE_BODY,
  day,
  email,
  environment,
  environmentName,
  id,
  jurisdiction,
  nextCursor,
  page,
  pathId,
  positiveAmount,
  signedAmount,
  text,
  verificationLevel,
} from '../fields.ts';
import { defined } from '../run-route.ts';
import { amount, timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const newAccount = component(
  'AccountRequest',
  z.object({
    email,
    date_of_birth: day,
    jurisdiction,
    verification_level: verificationLevel,
    program_id: id.optional().openapi({
      description: 'If present, the account is a sandbox account, which only this program can link, and only in test.',
    }),
  }),
);

const accountChange = component(
  'AccountChange',
  z
    .strictObject({
      ...eligibilityChange,
      blocked: z.boolean().optional(),
      fee_limit: amountField.nullable().optional().openapi({
        description:
          'The limit of what one program may charge the account in 24 hours. Null: the limit of the program applies.',
      }),
      jurisdiction: jurisdiction.optional(),
      verification_level: verificationLevel.optional(),
    })
    .refine((body) => Object.keys(body).length > 0, 'must change something'),
  CHANGE_BODY,
);

const newDeposit = component(
  'DepositRequest',
  z.object({
    environment,
    amount: positiveAmount,
    reference: text(MAX_REFERENCE_CHARACTERS),
    attempt_id: id.optional().openapi({
      description: 'The attempt that the deposit compensates for: one of the account, in this environment.',
    }),
  }),
);

export const accountSchema = component(
  'Account',
  z.object({
    id: uuid,
    email: z.string(),
    date_of_birth: z.string().openapi({ format: 'date' }),
    jurisdiction: z.string(),
    verification_level: z.int(),
    self_excluded_until: timestamp.nullable(),
    enforcement_flag: z.boolean(),
    under_investigation: z.boolean(),
    blocked: z.boolean(),
    fee_limit: amount.nullable().openapi({
      description:
        'The limit of what one program may charge the account in 24 hours. Null: the limit of the program applies.',
    }),
    sandbox_only: z.boolean(),
    program_id: uuid
      .nullable()
      .openapi({ description: 'The program of a sandbox account; null for the account of a person.' }),
    created_at: timestamp.nullable(),
  }),
);

const statementLine = component(
  'StatementLine',
  z.object({
    id: uuid,
    kind: z.string(),
    amount: signedAmount.openapi({ description: 'An amount below zero left the account.' }),
    balance_after: amount,
    reference: z.string(),
    attempt_id: uuid.nullable().openapi({ description: 'The attempt that a deposit compensates for.' }),
    created_at: timestamp,
  }),
);

const statementSchema = component(
  'Statement',
  z.object({
    balance: amount,
    data: z.array(statementLine),
    next_cursor: nextCursor,
  }),
);

const params = z.object({ accountId: pathId });

interface Accounts {
  readonly wallet: WalletClient;
}

export const createAccount = defineOperatorRoute({
  method: 'post',
  path: '/accounts',
  name: 'createAccount',
  summary: "Open a person's account, or a sandbox account of a program",
  description:
    "A person's account holds real money only, a sandbox account play money only. If another person, or another sandbox account of the same program, has the e-mail, the response is a `conflict`.",
  body: newAccount,
  success: { status: 201, description: 'The account.', schema: accountSchema },
  refusals: { not_found: 'There is no such program.', conflict: 'The e-mail is taken.' },
  action: 'create_account',
  recording: { creates: 'account' },
  run: async ({ body, options }, { wallet, database }: Accounts & { database: Database }) => {
    if (body.program_id !== undefined) {
      const program = await findProgram(database, body.program_id);
      if (isRefused(program)) return program;
    }
    const created = await wallet.createAccount(
      {
        email: body.email,
        dateOfBirth: body.date_of_birth,
        jurisdiction: body.jurisdiction,
        verificationLevel: body.verification_level,
        programId: body.program_id,
      },
      options,
    );
    return isRefused(created) ? created : { body: presentAccount(defined(created.account)) };
  },
});

const accountWithCharges = component(
  'AccountWithCharges',
  accountSchema.extend({
    charges: z
      .array(component('ProgramCharges', z.object({ program_id: uuid, environment: environmentName, amount })))
      .openapi({ description: 'Fees of the last 24 hours that were not refunded, by program, the most first.' }),
  }),
);

export const getAccount = defineOperatorRoute({
  method: 'get',
  path: '/accounts/{accountId}',
  name: 'getAccount',
  summary: 'Read an account and what programs charged it in the last 24 hours',
  params,
  success: { status: 200, description: 'The account.', schema: accountWithCharges },
  run: async ({ params: { accountId }, options }, { wallet }: Accounts) => {
    const found = await wallet.getAccount({ accountId }, options);
    if (isRefused(found)) return found;
    return { body: { ...presentAccount(defined(found.account)), charges: presentCharges(found.charges) } };
  },
});

export const changeAccount = defineOperatorRoute({
  method: 'patch',
  path: '/accounts/{accountId}',
  name: 'changeAccount',
  summary: "Change the facts that decide an account's eligibility",
  description:
    'A blocked or self-excluded player cannot pay for attempts. With `enforcement_flag` or `under_investigation`, prizes are held for review. Free attempts and open attempts continue.',
  params,
  body: accountChange,
  success: { status: 200, description: 'The account.', schema: accountSchema },
  action: 'change_account',
  run: async ({ params: { accountId }, body, options }, { wallet }: Accounts) => {
    const updated = await wallet.updateAccount(
      {
        accountId,
        ...toEligibility(body),
        blocked: body.blocked,
        feeLimitCents: body.fee_limit ?? undefined,
        clearFeeLimit: body.fee_limit === null,
        jurisdiction: body.jurisdiction,
        verificationLevel: body.verification_level,
      },
      options,
    );
    if (isRefused(updated)) return updated;
    return { body: presentAccount(defined(updated.account)), logged: { changed: Object.keys(body) } };
  },
});

export const deposit = defineOperatorRoute({
  method: 'post',
  path: '/accounts/{accountId}/deposits',
  name: 'createDeposit',
  summary: 'Deposit external cash',
  description:
    '`reference` names the payment outside of Laurel, once for each account: a repeated call changes nothing and is `posted_before`. Use `live` for the account of a person and `test` for a sandbox account; the other gets 404. A balance may reach 10000.00 in test and 1000000.00 in live; a call that would exceed it is refused.',
  params,
  body: newDeposit,
  success: {
    status: 201,
    description: 'The balance after the deposit.',
    schema: component(
      'DepositResult',
      z.object({
        balance: amount,
        posted_before: z
          .boolean()
          .openapi({ description: 'An earlier call made this deposit, and this one changed nothing.' }),
      }),
    ),
  },
  refusals: {
    not_found: 'There is no such account, or it has no such attempt in this environment.',
    conflict: 'The reference was used with another amount or another attempt.',
  },
  action: 'deposit',
  recording: {
    reads: async ({ subjectId, body, options }, { wallet }: Accounts & OwningServices) => {
      if (body === undefined || subjectId === null) return null;
      const page = { accountId: subjectId, environment: body.environment, limit: 1, cursor: '' };
      const statement = await wallet.getStatement(page, options);
      return isRefused(statement) ? null : { balance: formatAmount(statement.balanceCents) };
    },
  },
  run: async ({ params: { accountId }, body, options }, { wallet, ...services }: Accounts & OwningServices) => {
    const { environment, reference, attempt_id: attemptId } = body;
    if (attemptId !== undefined) {
      const found = await serviceOf(services, attemptId)?.inspectAttempt({ attemptId }, options);
      if (found !== undefined && isRefused(found) && found.code !== 'not_found') return found;
      const isTheirs =
        found !== undefined &&
        !isRefused(found) &&
        found.accountId === accountId &&
        found.tenant?.environment === environment;
      if (!isTheirs) return refused('not_found', 'attempt_id: the account has no such attempt in this environment');
    }
    const deposited = await wallet.deposit(
      { accountId, environment, amountCents: body.amount, reference, attemptId },
      options,
    );
    if (isRefused(deposited)) return deposited;
    return {
      body: { balance: formatAmount(deposited.balanceCents), posted_before: deposited.postedBefore },
      logged: { amount: formatAmount(body.amount) },
    };
  },
});

export const getStatement = defineOperatorRoute({
  method: 'get',
  path: '/accounts/{accountId}/statement',
  name: 'getStatement',
  summary: "List an account's transfers in one environment",
  description: '`balance` is the balance now, on every page. An `amount` below zero left the account.',
  params,
  query: z.object({
    environment: environment.openapi({ description: 'Test and live money never share a statement.' }),
    ...page,
  }),
  success: { status: 200, description: 'Newest first.', schema: statementSchema },
  run: async ({ params: { accountId }, query, options }, { wallet }: Accounts) => {
    const statement = await wallet.getStatement(
      { accountId, environment: query.environment, limit: query.limit ?? MAX_PAGE_ROWS, cursor: query.cursor ?? '' },
      options,
    );
    if (isRefused(statement)) return statement;
    const lines = statement.lines.map((line) => ({
      id: line.id,
      kind: line.kind,
      amount: formatAmount(line.amountCents),
      balance_after: formatAmount(line.balanceAfterCents),
      reference: line.reference,
      attempt_id: line.attemptId ?? null,
      created_at: defined(line.createdAt).toISOString(),
    }));
    const body = {
      balance: formatAmount(statement.balanceCents),
      data: lines,
      next_cursor: statement.nextCursor || null,
    };
    return { body };
  },
});
