import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { metrics } from '@laurel/telemetry';
import { expect, test, vi } from 'vitest';
import { createLogOutput } from './log-output.ts';

/** A file or pipe that accepts everything, a part, or nothing. */
function createDisk() {
  const disk = {
    content: '',
    /** Bytes that it still accepts. */
    freeBytes: Number.POSITIVE_INFINITY,
    code: 'ENOSPC',
    output: createLogOutput((bytes) => {
      const written = bytes.subarray(0, disk.freeBytes);
      if (written.length === 0) throw Object.assign(new Error('cannot be written'), { code: disk.code });
      disk.content += written.toString('latin1');
      disk.freeBytes -= written.length;
      return written.length;
    }),
  };
  return disk;
}

async function lostLines(): Promise<number> {
  const found = await metrics.getSingleMetric('laurel_log_lines_lost_total')?.get();
  return found?.values[0]?.value ?? 0;
}

test('deferrable log lines of one turn of the event loop are written together', async () => {
  const writes: string[] = [];
  const output = createLogOutput((bytes) => {
    writes.push(bytes.toString());
    return bytes.length;
  });
  output.writeSoon('one\n');
  output.writeSoon('two\n');
  await turn();
  output.writeSoon('three\n');
  output.write('four\n');
  expect(writes).toEqual(['one\ntwo\n', 'three\nfour\n']);
});

test('a log write that is only partly accepted is continued', () => {
  let written = '';
  const output = createLogOutput((bytes) => {
    written += bytes.subarray(0, 3).toString('latin1');
    return Math.min(3, bytes.length);
  });
  output.write('é — a line\n');
  expect(Buffer.from(written, 'latin1').toString()).toBe('é — a line\n');
});

test('log lines that a slow reader does not accept are written later', async () => {
  const disk = createDisk();
  disk.code = 'EAGAIN';
  disk.freeBytes = 4;
  const before = await lostLines();
  disk.output.write('one\ntwo\n');
  disk.output.writeSoon('three\n');
  await turn();
  expect(disk.content).toBe('one\n');
  disk.freeBytes = Number.POSITIVE_INFINITY;
  await vi.waitUntil(() => disk.content === 'one\ntwo\nthree\n', 10_000);
  expect(await lostLines()).toBe(before);
});

test('log lines beyond the memory limit are lost and counted while the reader is away', async () => {
  const disk = createDisk();
  disk.code = 'EAGAIN';
  disk.freeBytes = 0;
  const before = await lostLines();
  for (let megabyte = 0; megabyte < 5; megabyte += 1) disk.output.writeSoon(`${'x'.repeat(2 ** 20)}\n`);
  await turn();
  expect(await lostLines()).toBe(before + 5);
});

test('log lines that a full disk rejects are lost and counted', async () => {
  const disk = createDisk();
  const recovered: number[] = [];
  disk.output.onRecovered = (lines) => {
    recovered.push(lines);
    disk.output.write(`lost ${lines}\n`);
  };
  const before = await lostLines();
  disk.freeBytes = 6;
  disk.output.write('one\ntwo\n');
  disk.output.write('three\n');
  disk.output.write('four\n');
  expect(disk.content).toBe('one\ntw');
  expect(await lostLines()).toBe(before + 3);
  disk.freeBytes = Number.POSITIVE_INFINITY;
  disk.output.write('five\n');
  disk.output.write('six\n');
  expect(disk.content).toBe('one\ntw\nfive\nlost 3\nsix\n');
  expect(recovered).toEqual([3]);
});

/** A service that logs a hundred lines for each message, and replies with how many were lost. */
const SERVICE = `
  import { runService } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  import { metrics } from ${JSON.stringify(import.meta.resolve('@laurel/telemetry'))};
  await runService({
    name: 'wallet',
    loadConfig: () => ({ LOG_LEVEL: 'info' }),
    start: async (config, logger) => {
      process.on('message', async () => {
        for (let line = 0; line < 100; line += 1) logger.info({ line }, 'at work');
        const lost = await metrics.getSingleMetric('laurel_log_lines_lost_total')?.get();
        process.send(lost.values[0].value);
      });
      process.send('started');
      return { async [Symbol.asyncDispose]() {} };
    },
  });`;

async function work(child: ChildProcess): Promise<unknown> {
  const answer = once(child, 'message');
  child.send('work');
  return (await answer)[0];
}

test.each(['a full disk', 'a reader that is gone'])(
  'a service whose log goes to %s continues to work and stops cleanly',
  async (what) => {
    const stdout = what === 'a full disk' ? openSync('/dev/full', 'w') : 'pipe';
    const child = spawn(process.execPath, ['--input-type=module', '-e', SERVICE], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', stdout, 'inherit', 'ipc'],
    });
    if (typeof stdout === 'number') closeSync(stdout);
    child.stdout?.destroy();
    const ended = once(child, 'exit');
    await Promise.race([once(child, 'message'), ended]);
    expect(await Promise.race([work(child), ended])).toBeGreaterThanOrEqual(100);
    expect(await Promise.race([work(child), ended])).toBeGreaterThanOrEqual(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
);
