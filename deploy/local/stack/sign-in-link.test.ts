import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { makeSignInLink } from './sign-in-link.ts';

const DEVELOPER_ID = '01a1fd00-0000-7000-8000-000000000001';
const ANSWERS: Readonly<Record<string, readonly [status: number, body?: object]>> = {
  'POST /api/portal/session': [201, { token: 'session-token' }],
  'GET /api/portal/me': [200, { id: DEVELOPER_ID, email: 'dev@example.com', session_expires_at: '' }],
  'DELETE /api/portal/session': [204],
  [`POST /api/operator/developers/${DEVELOPER_ID}/sign-in-link`]: [201, { token: 'link-token', expires_at: '' }],
};

test('a start makes a sign-in link whose fragment contains the token', async () => {
  const asked: [route: string, authorization: string | undefined, body: string][] = [];
  const server = createServer(async (request, response) => {
    const route = `${request.method} ${request.url}`;
    asked.push([route, request.headers.authorization, await text(request)]);
    const [status, body] = ANSWERS[route] ?? [404];
    response.writeHead(status).end(body && JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const developer = { email: 'dev@example.com', password: 'a password' };
  const link = await makeSignInLink({ baseUrl: origin, operatorToken: 'operator-token', developer });
  expect(link).toBe(`${origin}/portal/sign-in#link-token`);
  expect(asked).toEqual([
    ['POST /api/portal/session', undefined, JSON.stringify(developer)],
    ['GET /api/portal/me', 'Bearer session-token', ''],
    ['DELETE /api/portal/session', 'Bearer session-token', ''],
    [`POST /api/operator/developers/${DEVELOPER_ID}/sign-in-link`, 'Bearer operator-token', ''],
  ]);
});
