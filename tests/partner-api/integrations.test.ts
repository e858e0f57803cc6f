import { randomUUID } from 'node:crypto';
import { createIntegrations, type Integrations } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type Program, type SharedWorld } from '../world.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET = /^[0-9a-f]{64}$/;
/** Laurel never fetches this URL: the integrations here stay drafts. */
const PULL = { version: 1, pull: { url: 'https://127.0.0.1:9443/runs' } };
const MAP = { attempt: { attempt_id: '/a' }, score: '/s' };

describe('the integration routes', () => {
  let world: SharedWorld;
  let program: Program;
  let integrations: Integrations;
  beforeAll(async () => {
    world = await joinWorld();
    program = await world.newProgram();
    integrations = createIntegrations(program.test);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const draft = {
    id: expect.stringMatching(UUID),
    status: 'draft',
    descriptor: {},
    has_signing_secret: false,
    pull_interval_seconds: null,
    last_polled_at: null,
    next_poll_at: null,
    consecutive_failures: 0,
    last_poll_error: null,
    created_at: expect.stringMatching(TIMESTAMP),
  };

  test('a push_webhook is created as a draft with its secret', async () => {
    const made = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    expect(made).toEqual({
      ...draft,
      transport: 'push_webhook',
      has_signing_secret: true,
      signing_secret: expect.stringMatching(SECRET),
      webhook_url: `/webhooks/integrations/${made.id}/outcome`,
      signing_instructions: expect.stringMatching(/\S/),
    });
    const listed = expectStatus(200, await integrations.list());
    expect(listed.body.data[0]).toEqual({ ...draft, id: made.id, transport: 'push_webhook', has_signing_secret: true });
    expect(listed.text).not.toContain(made.signing_secret);
    const stored = await world.stack.database('integration').query('select i::text as row from integrations i');
    expect(JSON.stringify(stored)).toContain(made.id);
    expect(JSON.stringify(stored)).not.toContain(made.signing_secret);
  });

  test('a pull_poll and an sdk_direct are created without a secret', async () => {
    const pull = { transport: 'pull_poll', descriptor: PULL, pull_interval_seconds: 30 } as const;
    const polled = expectStatus(201, await integrations.create(pull)).body;
    expect(polled).toMatchObject({
      ...draft,
      transport: 'pull_poll',
      pull_interval_seconds: 30,
      descriptor: PULL,
    });
    expect(Object.keys(polled).sort()).toEqual([...Object.keys(draft), 'transport'].sort());
    const direct = expectStatus(201, await integrations.create({ transport: 'sdk_direct' })).body;
    expect(direct).toEqual({ ...draft, transport: 'sdk_direct' });
  });

  test('a change sets only what is sent', async () => {
    const made = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    const { signing_secret: _secret, webhook_url: _url, signing_instructions: _how, ...shown } = made;
    const descriptor = { version: 1, map: MAP, 'x-note': 'kept' };
    const steps = [
      [{}, {}],
      [{ status: 'active' }, { status: 'active' }],
      [{ descriptor }, { status: 'active', descriptor }],
      [{ status: 'suspended' }, { status: 'suspended', descriptor }],
      [{ status: 'draft', descriptor: {} }, { status: 'draft' }],
    ] as const;
    for (const [change, changed] of steps) {
      expect(expectStatus(200, await integrations.update(made.id, change)).body).toEqual({ ...shown, ...changed });
    }
    expectError(400, 'invalid_request', await integrations.create({ transport: 'push_webhook', descriptor: PULL }));
    expect(expectStatus(200, await integrations.list()).body.data).toContainEqual(shown);
  });

  test('rotating a secret shows the new secret once', async () => {
    const { id, signing_secret } = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    const rotated = expectStatus(200, await integrations.rotateSecret(id)).body;
    expect(rotated.signing_secret).toMatch(SECRET);
    expect(rotated.signing_secret).not.toBe(signing_secret);
    expect(rotated.note).toMatch(/\S/);
    const { signing_secret: _secret, note: _note, ...shown } = rotated;
    for (let times = 0; times < 2; times += 1) {
      expect(expectStatus(200, await integrations.retirePreviousSecret(id)).body).toEqual(shown);
    }
  });

  test('an integration of another program or of the other environment is 404', async () => {
    const { id } = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    for (const partner of [program.live, world.program.test]) {
      const outsider = createIntegrations(partner);
      expectError(404, 'not_found', await outsider.update(id, { status: 'active' }));
      expectError(404, 'not_found', await outsider.rotateSecret(id));
      expectError(404, 'not_found', await outsider.retirePreviousSecret(id));
    }
    for (const unknown of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await integrations.update(unknown, {}));
      expectError(404, 'not_found', await integrations.rotateSecret(unknown));
      expectError(404, 'not_found', await integrations.retirePreviousSecret(unknown));
    }
    const { data } = expectStatus(200, await integrations.list()).body;
    expect(data.find((one) => one.id === id)?.status).toBe('draft');
  });
});
