/**
 * The partner's side of the demo against the containers: webhooks and polls reach its server on
 * this machine.
 */
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, DESCRIBED_STACK_VARIABLE, NODE } from '@laurel/testing';
import { expect, test } from 'vitest';

test('npm run demo plays every chapter against the containers', { timeout: 180_000 }, async () => {
  const folder = dirname(process.env[DESCRIBED_STACK_VARIABLE] ?? '');
  const demo = [`${CHECKOUT}deploy/local/demo/demo.ts`];
  const env = { ...process.env, LAUREL_DATA_DIR: folder };
  const { stdout } = await promisify(execFile)(NODE, ['--disable-warning=ExperimentalWarning', ...demo], { env });
  expect(stdout).toMatch(/Done: demo-player-\w+ paid three times, was refunded once, won once/);
});
