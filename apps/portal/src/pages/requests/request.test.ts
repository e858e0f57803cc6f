import { expect, test } from 'vitest';
import type { RequestDetails } from '../../api/api-types.ts';
import { curlOfRequest } from './request.ts';

const ATTEMPT = '0198f2a1-5031-7190-ad21-6bfd27e1bae3';

const request: RequestDetails = {
  request_id: '0198f2a1-0000-7000-8000-000000000001',
  at: '2026-11-21T12:00:00.000Z',
  environment: 'test',
  method: 'POST',
  path: '/v1/attempts',
  route: '/v1/attempts',
  status: 201,
  error_code: null,
  duration_ms: 12,
  idempotency_key: 'match-1',
  attempt_id: ATTEMPT,
  replayed: false,
  user_agent: null,
  request_body: '{"player_ref":"player-1"}',
  request_body_truncated: false,
  response_body: `{"id":"${ATTEMPT}","player_ref":"player-1"}`,
  response_body_truncated: false,
};

test('the page of a request shows a curl command unless part of the body was not kept', () => {
  expect(curlOfRequest(request, 'https://host.example')).toBe(
    [
      "curl -X POST 'https://host.example/v1/attempts'",
      '-H "X-API-Key: $LAUREL_TEST_KEY"',
      "-H 'Idempotency-Key: match-1'",
      "-H 'Content-Type: application/json'",
      `--data-raw '{"player_ref":"player-1"}'`,
    ].join(' \\\n  '),
  );
  expect(curlOfRequest({ ...request, request_body_truncated: true }, 'https://host.example')).toBeNull();
  const read = { ...request, method: 'GET', idempotency_key: null, request_body: null };
  expect(curlOfRequest(read, 'https://host.example')).toBe(
    'curl \'https://host.example/v1/attempts\' \\\n  -H "X-API-Key: $LAUREL_TEST_KEY"',
  );
});
