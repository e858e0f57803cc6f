import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE } from '@laurel/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeFileLock } from './file-lock.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-lock-'));
  file = join(folder, 'below', 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a second process waits until the first has released the lock', async () => {
  const order: string[] = [];
  const first = await takeFileLock(file, { onWait: () => order.push('the first waits') });
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const second = takeFileLock(file, { onWait: resolve }).then((lock) => {
    order.push('the second holds it');
    return lock;
  });
  await isWaiting;
  order.push('the first releases it');
  await first[Symbol.asyncDispose]();
  await (await second)[Symbol.asyncDispose]();
  expect(order).toEqual(['the first releases it', 'the second holds it']);
});

test('a signal ends the wait without changing the holder of the lock', async () => {
  await using _first = await takeFileLock(file);
  const waiting = new AbortController();
  const second = takeFileLock(file, { onWait: () => waiting.abort(), signal: waiting.signal });
  await expect(second).rejects.toThrow('aborted');
  const third = new AbortController();
  await expect(takeFileLock(file, { onWait: () => third.abort(), signal: third.signal })).rejects.toThrow('aborted');
});

test('the lock of a process that was killed is free', async () => {
  const script = `const { takeFileLock } = await import(process.argv[1]); await takeFileLock(process.argv[2]); console.log('held');`;
  const holder = spawn(
    NODE,
    ['--input-type=module', '-e', script, new URL('file-lock.ts', import.meta.url).href, file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(holder.stdout, 'data');
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const second = takeFileLock(file, { onWait: resolve });
  await isWaiting;
  holder.kill('SIGKILL');
  await (await second)[Symbol.asyncDispose]();
});
