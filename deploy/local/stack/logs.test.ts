import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeLogDirectory, rotateLog } from './logs.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-logs-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('only the owner can read logs, including world-readable logs of an older release', () => {
  const logs = join(directory, 'logs');
  mkdirSync(logs);
  chmodSync(logs, 0o755);
  for (const name of ['postgres.log', 'wallet.log.1']) {
    writeFileSync(join(logs, name), 'kept');
    chmodSync(join(logs, name), 0o644);
  }
  makeLogDirectory(logs);
  expect(modeOf(logs)).toBe(0o700);
  for (const name of ['postgres.log', 'wallet.log.1']) {
    expect(modeOf(join(logs, name))).toBe(0o600);
    expect(readFileSync(join(logs, name), 'utf8')).toBe('kept');
  }
});

test('a log is moved aside once it is larger than 10 MiB', () => {
  const file = join(directory, 'grown.log');
  rotateLog(file);
  writeFileSync(file, 'small');
  rotateLog(file);
  expect(readFileSync(file, 'utf8')).toBe('small');
  truncateSync(file, 10 * 1024 * 1024 + 1);
  rotateLog(file);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});
