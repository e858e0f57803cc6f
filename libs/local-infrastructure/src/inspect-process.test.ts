import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { findIdentified, identifyProcess, inspectProcess } from './inspect-process.mjs';

test('a running process is found by its identifying line', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid as number;
  const line = `${identifyProcess(pid)}\n`;
  expect(findIdentified(line)).toMatchObject({ pid, parent: process.pid });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect([findIdentified(line), inspectProcess(pid)]).toEqual([null, null]);
});

test('a later process with the same id does not match an identifying line', () => {
  expect(findIdentified(`${process.pid} another-boot 1`)).toBeNull();
  expect(findIdentified(String(process.pid))).toMatchObject({ pid: process.pid });
});

test.each(['', ' ', 'x', '0', '1', '-1', '1.5', '99999999999', '{"pid":1}'])('%j identifies no process', (text) => {
  expect(findIdentified(text)).toBeNull();
});
