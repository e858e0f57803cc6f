import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDescribedStack, type StackDescription } from './described-stack.ts';
import { POSTGRES_URL_VARIABLE } from './postgres.ts';

let folder: string;
let described: StackDescription;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-described-'));
  const { certificate, key } = await createCertificateAuthority();
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key);
  const url = process.env[POSTGRES_URL_VARIABLE] ?? '';
  described = {
    base_url: 'http://127.0.0.1:8080',
    operator_token: 'the operator’s',
    webhook_ca: { ...files, receiver_host: '127.0.0.2' },
    databases: { wallet: { superuser_url: url, owner_url: 'postgresql://owner@db/wallet', running_url: url } },
  };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(description: object): string {
  const file = join(folder, 'ready.json');
  writeFileSync(file, JSON.stringify(description));
  return file;
}

describe('openDescribedStack', () => {
  test('openDescribedStack returns the addresses, databases and issuing authority that the file describes', async () => {
    await using stack = await openDescribedStack(write(described));
    expect(stack).toMatchObject({
      baseUrl: 'http://127.0.0.1:8080',
      baseUrls: ['http://127.0.0.1:8080'],
      operatorToken: 'the operator’s',
      receiverHost: '127.0.0.2',
    });
    expect(stack.database('wallet').ownerUrl).toBe('postgresql://owner@db/wallet');
    expect(await stack.database('wallet').query('select 1::int8 as one')).toEqual([{ one: 1n }]);
    expect(() => stack.database('gateway')).toThrow('no database of gateway');
    expect((await stack.ca.issue({ names: ['127.0.0.2'] })).certificate).toContain('BEGIN CERTIFICATE');
  });

  test.each(['base_url', 'operator_token', 'webhook_ca', 'databases'])(
    'openDescribedStack refuses a file without %s',
    async (name) => {
      await expect(openDescribedStack(write({ ...described, [name]: undefined }))).rejects.toThrow(name);
    },
  );
});
