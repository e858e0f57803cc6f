/** The portal, as a developer sees it, and the sandbox. */
import { only, type RouteExamples } from './example.ts';
import { DELIVERY_ID, draftProgram, endpoint, PROGRAM_ID, program, RESENT_DELIVERY_ID, TEST_KEY } from './own-story.ts';
import {
  CHALLENGE_ATTEMPT_ID,
  EXAMPLE_WEBHOOK_SECRET,
  openAttempt,
  PLAYER_REF,
  pushDescriptor,
  runningRound,
  settledRound,
} from './story.ts';

const delivery = {
  id: DELIVERY_ID,
  event: 'attempt.settled',
  status: 'pending',
  created_at: '2026-11-21T12:04:11.352Z',
  next_attempt_at: '2026-11-21T12:05:16.402Z',
  attempts: [
    {
      number: 1,
      started_at: '2026-11-21T12:04:11.400Z',
      duration_ms: 5001,
      http_status: null,
      error_kind: 'timeout',
      error: 'No answer within 5 seconds.',
      response_excerpt: null,
    },
  ],
};

export const PORTAL_EXAMPLES: Readonly<Record<string, RouteExamples>> = {
  signIn: {
    request: only('A developer', { email: 'dev@example.com', password: 'correct horse battery staple' }),
    response: only('The token', { token: 'Zk3r8vQ1mY6tLw0aXc5nBd2eHf7gJs9pUi4oRbTqVzE' }),
  },
  listOwnPrograms: { response: only('The last page', { data: [program, draftProgram], next_cursor: null }) },
  replaceTestKey: { response: only('The new key', { test_key: TEST_KEY }) },
  createWebhookEndpoint: {
    request: only('Two events of one program', {
      url: endpoint.url,
      events: endpoint.events,
      program_id: PROGRAM_ID,
      description: endpoint.description,
    }),
    response: only('With its secret', { ...endpoint, signing_secret: EXAMPLE_WEBHOOK_SECRET }),
  },
  listWebhookEndpoints: { response: only('One endpoint', { data: [endpoint] }) },
  getWebhookEndpoint: { response: only('It is on', endpoint) },
  changeWebhookEndpoint: {
    request: only('Switch it off', { active: false }),
    response: only('It is off', { ...endpoint, active: false }),
  },
  rotateWebhookSecret: {
    response: only('With its new secret', { ...endpoint, signing_secret: EXAMPLE_WEBHOOK_SECRET }),
  },
  sendTestEvent: { response: only('The delivery', { delivery_id: DELIVERY_ID }) },
  listWebhookDeliveries: {
    response: only('One that will be sent again', { data: [delivery], next_cursor: null }),
  },
  resendWebhookDelivery: { response: only('The new delivery', { delivery_id: RESENT_DELIVERY_ID }) },
  dryRunDescriptor: {
    request: only('A body of the game', {
      transport: 'push_webhook',
      descriptor: pushDescriptor,
      sample: { runs: [{ state: 'finished', attempt: CHALLENGE_ATTEMPT_ID, seconds: 58.214, replay: 'r-77120' }] },
    }),
    response: {
      read: {
        summary: 'It would be reported',
        value: {
          records: [
            {
              index: 0,
              status: 'read',
              read: { attempt: { attempt_id: CHALLENGE_ATTEMPT_ID }, score: 58.214, evidence: { replay: 'r-77120' } },
              failure: null,
            },
          ],
          records_failure: null,
          next_page: null,
        },
      },
      failed: {
        summary: 'A pointer leads nowhere',
        value: {
          records: [],
          records_failure: { pointer: '/runs', field: 'map.records', message: 'There is nothing at this place.' },
          next_page: null,
        },
      },
    },
  },
  listIntegrationLog: {
    response: only('A push of one record', {
      data: [
        {
          id: '01a1fdfe-1ba0-7d52-9e08-6c4f1b3a7d95',
          kind: 'push',
          at: '2026-11-21T12:04:11.290Z',
          body_excerpt: `{"runs":[{"state":"finished","attempt":"${CHALLENGE_ATTEMPT_ID}","seconds":58.214}]}`,
          error: null,
          records: [{ index: 0, attempt_id: CHALLENGE_ATTEMPT_ID, status: 'settled', code: null, message: null }],
        },
      ],
      next_cursor: null,
    }),
  },
};

export const SANDBOX_EXAMPLES: Readonly<Record<string, RouteExamples>> = {
  putSandboxPlayer: {
    request: {
      funded: { summary: 'A player with play money', value: { player_ref: PLAYER_REF, funds: '100.00' } },
      excluded: {
        summary: 'A player who excluded themselves',
        value: { player_ref: 'player-0a4', self_excluded_until: '2027-01-01T00:00:00.000Z' },
      },
    },
    response: only('Linked', { player_ref: PLAYER_REF, linked: true, created_at: '2026-11-20T18:22:40.507Z' }),
  },
  expireAttempt: { response: only('Expired: the fee is back', { ...openAttempt, status: 'expired' }) },
  closeEntries: {
    response: only('Open for scores alone', { ...runningRound, entries_close_at: '2026-11-21T12:35:00.000Z' }),
  },
  closeRound: { response: only('Settled', settledRound) },
  retryWebhookDelivery: { response: only('The retry is due', { delivery_id: DELIVERY_ID }) },
};
