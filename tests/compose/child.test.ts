import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { NODE } from '@laurel/testing';
import { expect, test } from 'vitest';
import { exitOf } from './child.ts';

/** Ends half a second after SIGTERM. */
const SLOW_END = `process.on('SIGTERM', () => setTimeout(() => process.exit(0), 500)); setInterval(() => {}, 1000); console.log('up')`;

test('exitOf resolves with the exit code of a child', async () => {
  expect(await exitOf(spawn(NODE, ['-e', 'process.exit(3)']))).toBe(3);
});

test('exitOf rejects for a program that cannot be started', async () => {
  await expect(exitOf(spawn('/no/such/program'))).rejects.toThrow(/ENOENT/);
});

test('exitOf rejects for an aborted child only after the child has exited', async () => {
  const interruption = new AbortController();
  const child = spawn(NODE, ['-e', SLOW_END], { signal: interruption.signal });
  const ended = exitOf(child);
  await once(child.stdout, 'data');
  interruption.abort();
  await expect(ended).rejects.toThrow(/aborted/);
  expect(child.exitCode).toBe(0);
});
