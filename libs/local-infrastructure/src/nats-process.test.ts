import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'nats';
import { expect, test, vi } from 'vitest';
import { killOrphanedNats, startNatsProcess } from './nats-process.ts';
import { obtainNats } from './nats-server.ts';

const KEPT_BELOW = fileURLToPath(new URL('../../../node_modules/.cache/laurel', import.meta.url));

test('a killed NATS server restarts at its address with its store', async () => {
  await using directory = await temporaryDirectory();
  await using server = await startNatsProcess({ file: await natsFile(), directory: directory.path });
  await withStreams(server.url, (streams) => streams.add({ name: 'KEPT', subjects: ['kept'] }));
  await server.kill();
  await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow();
  await server.start();
  expect(await streamNames(server.url)).toEqual(['KEPT']);
  await server.stop();
  await server.start();
  expect(await streamNames(server.url)).toEqual(['KEPT']);
  await server.wipe();
  await server.start();
  expect(await streamNames(server.url)).toEqual([]);
});

test('a NATS server of a killed parent is found by its directory and ended', async () => {
  await using temporary = await temporaryDirectory();
  const directory = temporary.path;
  const script = `
    import { startNatsProcess } from ${JSON.stringify(new URL('./nats-process.ts', import.meta.url).href)};
    console.log((await startNatsProcess(${JSON.stringify({ file: await natsFile(), directory })})).url);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parent.stdout, 'data');
  const url = String(line).trim();
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  expect(await streamNames(url)).toEqual([]);

  await killOrphanedNats(directory);
  await vi.waitFor(() => expect(connect({ servers: url, reconnect: false })).rejects.toThrow(), 10_000);
  await killOrphanedNats(directory);
  await killOrphanedNats(join(directory, 'none'));
});

function natsFile(): Promise<string> {
  return obtainNats(KEPT_BELOW, () => {}, AbortSignal.timeout(60_000));
}

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'laurel-nats-process-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

type Streams = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['jetstreamManager']>>['streams'];

async function withStreams<T>(url: string, work: (streams: Streams) => Promise<T>): Promise<T> {
  const nats = await connect({ servers: url });
  try {
    return await work((await nats.jetstreamManager()).streams);
  } finally {
    await nats.close();
  }
}

function streamNames(url: string): Promise<string[]> {
  return withStreams(url, (streams) => streams.names().next());
}
