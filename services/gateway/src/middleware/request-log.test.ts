import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLineOutput } from './request-log.ts';

test('the lines of one turn leave in one write, in their order', async () => {
  const writes: string[] = [];
  const output = createLineOutput((bytes) => {
    writes.push(bytes.toString());
    return bytes.length;
  });
  output.write('one\n');
  output.write('two\n');
  await turn();
  output.write('three\n');
  await turn();
  expect(writes).toEqual(['one\ntwo\n', 'three\n']);
});

test('a write that takes only a part is continued', async () => {
  let written = '';
  const output = createLineOutput((bytes) => {
    written += bytes.subarray(0, 3).toString('latin1');
    return Math.min(3, bytes.length);
  });
  output.write('é — a line\n');
  await turn();
  expect(Buffer.from(written, 'latin1').toString()).toBe('é — a line\n');
});

test('what a slow reader has no room for waits, and nothing is written twice', async () => {
  let written = '';
  let isFull = false;
  const output = createLineOutput((bytes) => {
    if (isFull) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
    isFull = true;
    written += bytes.subarray(0, 4).toString();
    return Math.min(4, bytes.length);
  });
  output.write('one\ntwo\n');
  await turn();
  output.write('three\n');
  await turn();
  expect(written).toBe('one\n');
  while (written !== 'one\ntwo\nthree\n') {
    isFull = false;
    output.write('');
    await turn();
  }
});
