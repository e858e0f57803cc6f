import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepWebhookCa } from './webhook-ca.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-webhook-ca-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test('the authority of webhook receivers is created once', async () => {
  const files = await keepWebhookCa(directory);
  const read = () => [readFileSync(files.certificate, 'utf8'), readFileSync(files.key, 'utf8')];
  const made = read();
  expect(await keepWebhookCa(directory)).toEqual(files);
  expect(read()).toEqual(made);
  for (const key of [files.key, files.receiver_key]) expect(statSync(key).mode & 0o777).toBe(0o600);
});

test('each start issues a certificate for webhook receivers on this machine', async () => {
  const files = await keepWebhookCa(directory);
  const read = () => new X509Certificate(readFileSync(files.receiver_certificate, 'utf8'));
  const first = read();
  await keepWebhookCa(directory);
  const second = read();
  expect(second.serialNumber).not.toBe(first.serialNumber);
  const authority = new X509Certificate(readFileSync(files.certificate, 'utf8'));
  expect(second.verify(authority.publicKey)).toBe(true);
  expect([second.checkHost('localhost'), second.checkIP('127.0.0.1'), second.checkIP('::1')]).toEqual([
    'localhost',
    '127.0.0.1',
    '::1',
  ]);
});

test('the stack trusts its own authority and those that the environment names', async () => {
  const given = join(directory, 'given.pem');
  writeFileSync(given, 'theirs');
  const { certificate, trusted } = await keepWebhookCa(directory, given);
  expect(readFileSync(trusted, 'utf8')).toBe(`${readFileSync(certificate, 'utf8')}\ntheirs`);
  await keepWebhookCa(directory);
  expect(readFileSync(trusted, 'utf8')).toBe(readFileSync(certificate, 'utf8'));
  await expect(keepWebhookCa(directory, '/nowhere/ca.pem')).rejects.toThrow(
    'EGRESS_CA_FILE names /nowhere/ca.pem, which cannot be read: give the path of a PEM file, or leave it out.',
  );
});

test('a damaged authority of the webhook receivers is reported in one sentence', async () => {
  const { certificate } = await keepWebhookCa(directory);
  writeFileSync(certificate, 'nonsense');
  await expect(keepWebhookCa(directory)).rejects.toThrow(
    `The certificate authority in ${join(directory, 'webhook-ca')} is damaged: delete that folder, and the next start makes a new one.`,
  );
});
