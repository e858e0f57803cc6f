import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findRunningStack, StackFailure } from './running-stack.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'laurel-running-stack-'));
  vi.stubEnv('LAUREL_DATA_DIR', dataDir);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dataDir, { recursive: true });
});

test('no stack counts as running without a ready.json', async () => {
  const failure = await findRunningStack().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StackFailure);
  expect(String(failure)).toContain(`The stack is not running (no ${join(dataDir, 'ready.json')})`);
});

test.each(['', '{"base_url":', 'null', '{}', '{"base_url":1}'])(
  'a ready.json that contains %j is reported as damaged',
  async (content) => {
    writeFileSync(join(dataDir, 'ready.json'), content);
    const failure = await findRunningStack().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StackFailure);
    expect(String(failure)).toContain(`${join(dataDir, 'ready.json')} is damaged`);
  },
);
