import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'nats';
import { expect, test } from 'vitest';
import { eventually, natsFile, startOwnNats } from './events.fixture.ts';
import { killOrphanedNats } from './nats-process.ts';

test('a server that is killed comes back at its address with its store, and without it once wiped', async () => {
  await using server = await startOwnNats();
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

test('a server whose parent was killed is ended by its directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'laurel-nats-process-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
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
  await eventually('it is gone', () =>
    connect({ servers: url, reconnect: false }).then(
      (nats) => nats.close().then(() => false),
      () => true,
    ),
  );
  await killOrphanedNats(directory);
  await killOrphanedNats(join(directory, 'none'));
});

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
