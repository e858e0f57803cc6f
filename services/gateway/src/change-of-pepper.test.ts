import { randomBytes } from 'node:crypto';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startScriptedIntegration } from './clients/integration.fixture.ts';
import { OPERATOR_TOKEN, startTestGateway } from './gateway.fixture.ts';

const CREDENTIALS = { email: 'dev@example.com', password: 'correct horse battery' };
const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

const cleanup = new AsyncDisposableStack();
let databaseUrl: string;
let integrationAddress: string;
beforeAll(async () => {
  const migrations = new URL('../migrations/', import.meta.url);
  // The gateway announces an operator's program to this service.
  integrationAddress = cleanup.use(await startScriptedIntegration()).address;
  databaseUrl = cleanup.use(await createTestDatabase({ migrations })).runningUrl;
});
afterAll(() => cleanup.disposeAsync());

function start(peppers: Record<string, string>) {
  return startTestGateway({ GATEWAY_DATABASE_URL: databaseUrl, INTEGRATION_ADDRESS: integrationAddress, ...peppers });
}

async function send(port: number, method: string, path: string, headers: Record<string, string> = {}, body?: object) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { connection: 'close', ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  const cookie = answer.headers.get('set-cookie');
  return { status: answer.status, cookie, body: text === '' ? null : JSON.parse(text) };
}

test('keys and sessions stay valid through a change of the pepper', async () => {
  const operator = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  let apiKey = '';
  let token = '';
  let cookie = '';
  /**
   * Whether the key, the developer's session and the operator's are accepted. With a known key, the
   * request fails only because of its missing parameter.
   */
  const statuses = async (port: number) => [
    (await send(port, 'GET', '/v1/challenges?limit=nonsense', { 'x-api-key': apiKey })).status,
    (await send(port, 'GET', '/api/portal/programs', { authorization: `Bearer ${token}` })).status,
    (await send(port, 'GET', '/api/operator/me', { cookie })).status,
  ];
  const signIn = async (port: number) => {
    token = (await send(port, 'POST', '/api/portal/session', {}, CREDENTIALS)).body.token;
    const opened = await send(port, 'POST', '/api/operator/session', {}, { token: OPERATOR_TOKEN });
    cookie = opened.cookie?.split(';')[0] ?? '';
  };
  {
    await using gateway = await start({ KEY_PEPPER: OLD });
    const program = await send(gateway.port, 'POST', '/api/operator/programs', operator, { name: 'Arcade' });
    expect(program.status).toBe(201);
    apiKey = program.body.test_key;
    expect((await send(gateway.port, 'POST', '/api/operator/developers', operator, CREDENTIALS)).status).toBe(201);
    await signIn(gateway.port);
    expect(await statuses(gateway.port)).toEqual([400, 200, 200]);
  }
  {
    await using gateway = await start({ KEY_PEPPER: OLD, KEY_PEPPERS_ACCEPTED: `2:${NEW}` });
    expect(await statuses(gateway.port)).toEqual([400, 200, 200]);
  }
  const changed = { KEY_PEPPER: NEW, KEY_PEPPER_VERSION: '2' };
  {
    await using gateway = await start({ ...changed, KEY_PEPPERS_ACCEPTED: `1:${OLD}` });
    expect(await statuses(gateway.port)).toEqual([400, 200, 200]);
    const out = await send(gateway.port, 'DELETE', '/api/portal/session', { authorization: `Bearer ${token}` });
    expect(out.status).toBe(204);
    expect(await statuses(gateway.port)).toEqual([400, 401, 200]);
    await signIn(gateway.port);
  }
  {
    await using gateway = await start(changed);
    // The session began after the change. The key was used, but its hash has not been replaced yet.
    expect(await statuses(gateway.port)).toEqual([401, 200, 200]);
  }
});

test.each([
  ['no bytes', { KEY_PEPPERS_ACCEPTED: '2:' }],
  ['too few bytes', { KEY_PEPPERS_ACCEPTED: `2:${randomBytes(31).toString('base64')}` }],
  ['no version', { KEY_PEPPERS_ACCEPTED: OLD }],
  ['a version of 0', { KEY_PEPPERS_ACCEPTED: `0:${OLD}` }],
  ['one version twice', { KEY_PEPPERS_ACCEPTED: `2:${OLD},2:${NEW}` }],
  ['the version of the current one', { KEY_PEPPERS_ACCEPTED: `1:${NEW}` }],
])('a configuration of peppers with %s is refused', async (_what, peppers) => {
  const issues = await start({ KEY_PEPPER: OLD, ...peppers }).catch((error: { issues?: string[] }) => error.issues);
  expect(issues).toEqual([expect.stringMatching(/^KEY_PEPPERS_ACCEPTED: must/)]);
});
