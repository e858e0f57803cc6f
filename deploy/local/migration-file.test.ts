import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PLACEHOLDER, writeMigration } from './migration-file.ts';
import { StartFailure } from './stack/start-failure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'laurel-migration-'));
  for (const service of ['wallet', 'webhook']) {
    mkdirSync(join(root, 'services', service, 'migrations'), { recursive: true });
  }
});

afterEach(() => rmSync(root, { recursive: true }));

test('a new migration gets the next number of its service', () => {
  const folder = join(root, 'services', 'wallet', 'migrations');
  expect(writeMigration(root, 'wallet', 'create_accounts')).toBe(join(folder, '0001_create_accounts.sql'));
  writeFileSync(join(folder, '0009_create_houses.sql'), '');
  const file = writeMigration(root, 'wallet', 'add_payout_notes');
  expect(file).toBe(join(folder, '0010_add_payout_notes.sql'));
  expect(readFileSync(file, 'utf8')).toBe(`${PLACEHOLDER}\n`);
});

test.each([
  'Add_notes',
  'add-notes',
  'add__notes',
  '_notes',
  'notes_',
  '1_notes',
  '../notes',
  'notes.sql',
  '',
  'x'.repeat(61),
])('"%s" is refused as the name of a migration', (name) => {
  expect(() => writeMigration(root, 'wallet', name)).toThrow(StartFailure);
  expect(globSync('services/*/migrations/*', { cwd: root })).toEqual([]);
});

test('a new migration is refused if its service is unknown or already has a migration of that name', () => {
  writeMigration(root, 'wallet', 'create_accounts');
  expect(() => writeMigration(root, 'wallet', 'create_accounts')).toThrow(
    'services/wallet/migrations/0001_create_accounts.sql has this name already',
  );
  expect(() => writeMigration(root, 'walet', 'create_accounts')).toThrow('one of wallet, webhook.');
  expect(() => writeMigration(root, 'wallet', undefined)).toThrow('Usage: npm run migration -- <service> <name>');
  expect(globSync('services/*/migrations/*', { cwd: root })).toHaveLength(1);
});

test('every migration of this repository opens with a comment of its own', () => {
  const migrations = globSync('services/*/migrations/*.sql', { cwd: ROOT });
  expect(migrations.length).toBeGreaterThan(0);
  for (const migration of migrations) {
    const text = readFileSync(join(ROOT, migration), 'utf8');
    expect(text, migration).toMatch(/^-- \S/);
    expect(text, migration).not.toContain(PLACEHOLDER);
  }
});
