import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { internalChannels } from './internal-channels.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'laurel-channels-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const open = (environment: Record<string, string> = {}) => internalChannels({ dataDir, natsPort: 4222, environment });
const TLS = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'];

test('every service that uses NATS has its own certificate and its own NATS user', async () => {
  const { environmentOf } = await open({ LAUREL_INTERNAL_TLS: 'on' });
  expect(Object.keys(environmentOf('gateway'))).toEqual(TLS);
  expect(Object.keys(environmentOf('wallet'))).toEqual(TLS);
  for (const service of ['challenge', 'tournament', 'webhook'] as const) {
    const environment = environmentOf(service);
    expect(Object.keys(environment)).toEqual([...TLS, 'NATS_URL', 'NATS_CA_FILE']);
    expect(environment.NATS_URL).toMatch(new RegExp(`^nats://${service}:[0-9a-f]{48}@127\\.0\\.0\\.1:4222$`));
    expect(environment.GRPC_TLS_CERT_FILE).toContain(`/${service}/`);
  }
});

test('NATS has its users even if internal calls have no TLS', async () => {
  const { environmentOf, natsConfigurationFile } = await open();
  expect(environmentOf('wallet')).toEqual({});
  expect(Object.keys(environmentOf('webhook'))).toEqual(['NATS_URL']);
  const configuration = JSON.parse(readFileSync(natsConfigurationFile, 'utf8'));
  expect([configuration.tls, configuration.authorization.users.length]).toEqual([undefined, 3]);
  await expect(open({ LAUREL_INTERNAL_TLS: 'no' })).rejects.toThrow(
    'LAUREL_INTERNAL_TLS must be on or off, and is "no".',
  );
});

test('the stack creates no users on a NATS server that the environment names', async () => {
  expect(
    Object.keys(
      (await open({ LAUREL_INTERNAL_TLS: 'on', NATS_URL: 'nats://elsewhere:4222' })).environmentOf('webhook'),
    ),
  ).toEqual(TLS);
  const { natsConfigurationFile } = await open({ EVENTS_PREFIX: 'mine' });
  expect(readFileSync(natsConfigurationFile, 'utf8')).toContain('"mine.live.challenge.>"');
});
