/** Developers, programs, accounts and their money, as operators see them. */
import { only, type RouteExamples } from './example.ts';
import {
  ACCOUNT_ID,
  account,
  DEVELOPER_ID,
  draftProgram,
  heldPayout,
  LIVE_KEY,
  PROGRAM_ID,
  program,
  programLimits,
  REQUEST_ID,
  TEST_KEY,
} from './own-story.ts';
import { CHALLENGE_ATTEMPT_ID, openAttempt, PLAYER_REF } from './story.ts';

const RECEIPT_KEY = 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
const SIGNATURE = 'q2Jr0tYw3nXcVbL8mZs5Ef7Kd1Gh9Au4Pi6OoTyRxWvNqBkMjCzSlHeDaFgUi0pQ2rT4yU6wE8sA1dF3gH5jKA==';

export const OPERATOR_PEOPLE_EXAMPLES: Readonly<Record<string, RouteExamples>> = {
  createDeveloper: {
    request: only('A developer', { email: 'dev@example.com', password: 'correct horse battery staple' }),
    response: only('The developer', { id: DEVELOPER_ID, email: 'dev@example.com' }),
  },
  createProgram: {
    request: only('A program of a developer', { name: draftProgram.name, developer_id: DEVELOPER_ID }),
    response: only('A draft with its test key', { ...draftProgram, test_key: TEST_KEY }),
  },
  listPrograms: { response: only('The last page', { data: [program], next_cursor: null }) },
  getProgram: { response: only('An approved program', program) },
  approveProgram: { response: only('With its live key', { ...program, live_key: LIVE_KEY }) },
  replaceLiveKey: { response: only('The new key', { live_key: LIVE_KEY }) },
  changeProgram: {
    request: only('Suspend it', { status: 'suspended' }),
    response: only('Suspended', { ...program, status: 'suspended' }),
  },
  getProgramLimits: {
    response: only('The defaults', {
      data: [
        { ...programLimits, environment: 'test', payout_limit: null, fee_limit: null, paid: '0.00' },
        programLimits,
      ],
    }),
  },
  changeProgramLimits: {
    request: only('Pay more a day', { environment: 'live', payout_limit: '20000.00' }),
    response: only('The limits', { ...programLimits, payout_limit: '20000.00' }),
  },
  addInsider: {
    request: only('An account of the partner', { account_id: ACCOUNT_ID }),
    response: only('Marked', { program_id: PROGRAM_ID, account_id: ACCOUNT_ID }),
  },
  createAccount: {
    request: only('A person', {
      email: account.email,
      date_of_birth: account.date_of_birth,
      jurisdiction: account.jurisdiction,
      verification_level: account.verification_level,
    }),
    response: only('The account', account),
  },
  getAccount: {
    response: only('Charged by one program', {
      ...account,
      charges: [{ program_id: PROGRAM_ID, environment: 'live', amount: '3.50' }],
    }),
  },
  changeAccount: {
    request: only('Under investigation', { under_investigation: true }),
    response: only('Its awards are held', { ...account, under_investigation: true }),
  },
  createDeposit: {
    request: only('External cash', { environment: 'live', amount: '50.00', reference: 'wire-20931' }),
    response: only('The balance after it', { balance: '62.75' }),
  },
  listPlayerLinks: {
    response: only('One link, and one program that was severed', {
      data: [
        {
          program_id: PROGRAM_ID,
          environment: 'live',
          player_ref: PLAYER_REF,
          created_at: '2026-11-20T18:22:40.507Z',
        },
      ],
      severed: [{ program_id: '01a19a5c-0d20-7e84-9b13-c8d2f5a6e097', severed_at: '2026-11-19T11:00:00.000Z' }],
    }),
  },
  getStatement: {
    response: only('A deposit and a fee', {
      balance: '48.75',
      data: [
        {
          id: '01a1fdfa-467e-8c11-a5d0-3b92e7f4c681',
          kind: 'fee',
          amount: '-1.25',
          balance_after: '48.75',
          reference: CHALLENGE_ATTEMPT_ID,
          created_at: '2026-11-21T12:00:00.125Z',
        },
        {
          id: '01a1fdf0-2b10-8f36-b7c4-91a0d8e5f273',
          kind: 'deposit',
          amount: '50.00',
          balance_after: '50.00',
          reference: 'wire-20931',
          created_at: '2026-11-21T11:49:00.000Z',
        },
      ],
      next_cursor: null,
    }),
  },
  listPayouts: { response: only('One that is held', { data: [heldPayout], next_cursor: null }) },
  releasePayout: {
    response: only('Paid', { ...heldPayout, status: 'paid', paid_at: '2026-11-22T09:30:12.251Z' }),
  },
  denyPayout: { response: only('Denied', { ...heldPayout, status: 'denied' }) },
  voidAttempt: {
    request: only('Why', { reason: 'The race server crashed.' }),
    response: only('Voided', { ...openAttempt, status: 'voided' }),
  },
  getReceipt: {
    response: only('Of an outcome against a challenge', {
      receipt: { attempt_id: CHALLENGE_ATTEMPT_ID, score: 58.214, threshold_applied: 59.8, met_threshold: true },
      signature: SIGNATURE,
      public_key: RECEIPT_KEY,
    }),
  },
  runAudit: {
    response: only('Nothing is wrong', {
      ok: true,
      live_ok: true,
      checks: [
        {
          id: 'transfers_balance',
          description: 'Debits and credits of every transfer are equal.',
          violations: 0,
          violations_by_environment: { live: 0, test: 0 },
        },
      ],
    }),
  },
  listActions: {
    response: only('The last page', {
      data: [
        {
          id: '01a1fe50-4a40-7b68-8d27-e3f1c905a7b4',
          at: '2026-11-21T13:34:09.152Z',
          actor: 'ana',
          action: 'change_account',
          subject: `account:${ACCOUNT_ID}`,
          request: { under_investigation: true },
          before: account,
          after: { ...account, under_investigation: true },
          outcome: 'done',
          status: 200,
          request_id: REQUEST_ID,
        },
      ],
      next_cursor: null,
    }),
  },
};
