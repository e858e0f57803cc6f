import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';

type Line = { level: string; msg: string; [field: string]: unknown };

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A real process whose `start` and configuration are the given sources. */
function run(start: string, configSource = `{ LOG_LEVEL: 'info' }`) {
  const source = `
    import { runService, loadConfig, port } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    import { z } from ${JSON.stringify(import.meta.resolve('zod'))};
    const config = () => (${configSource});
    await runService({ name: 'wallet', loadConfig: config, start: ${start} });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const lines: Line[] = [];
  const waiting = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    waiting.get(line.msg)?.();
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  const logged = async (msg: string) => {
    if (lines.some((line) => line.msg === msg)) return;
    await Promise.race([
      new Promise<void>((resolve) => waiting.set(msg, resolve)),
      ended.then(() => Promise.reject(new Error(`ended without logging ${msg}: ${stderr}`))),
    ]);
  };
  return { child, lines, logged, ended, messages: () => lines.map((line) => line.msg) };
}

test('a service logs ready with its port, drains at SIGTERM and exits 0', async () => {
  const service = run(`async (config, logger) => {
    const work = setInterval(() => {}, 1_000);
    return { port: 4321, async [Symbol.asyncDispose]() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      clearInterval(work);
      logger.info('drained');
    } };
  }`);
  await service.logged('ready');
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, stderr: '' });
  expect(service.messages()).toEqual(['ready', 'stopping', 'drained', 'stopped']);
  expect(service.lines[0]).toMatchObject({ level: 'info', service: 'wallet', port: 4321 });
});

const NEVER_DRAINS = `async (config, logger) => ({ [Symbol.asyncDispose]: () => new Promise(() => setInterval(() => {}, 1_000)) })`;

test('a service shows its release in its first log line and its metrics', async () => {
  const service = run(`async (config, logger) => {
    const { metrics } = await import(${JSON.stringify(import.meta.resolve('@laurel/telemetry'))});
    const page = await metrics.metrics();
    logger.info({ metric: page.match(/^laurel_build_info.*$/m)[0], waits: page.match(/^# TYPE laurel_oldest.*$/m)[0] }, 'measured');
    return { async [Symbol.asyncDispose]() {} };
  }`);
  await service.logged('ready');
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const [measured, ready] = service.lines;
  expect(ready).toMatchObject({ msg: 'ready', version });
  expect(measured?.metric).toBe(
    `laurel_build_info{version="${version}",node="${process.versions.node}",service="wallet"} 1`,
  );
  expect(measured?.waits).toBe('# TYPE laurel_oldest_waiting_call_seconds gauge');
});

test('a second signal of the same kind exits the process immediately', async () => {
  const service = run(NEVER_DRAINS);
  await service.logged('ready');
  service.child.kill('SIGTERM');
  await service.logged('stopping');
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
  expect(service.messages()).toEqual(['ready', 'stopping', 'second signal to stop, leaving at once']);
});

test('SIGINT from a terminal and SIGTERM from a launcher count as one stop', async () => {
  const service = run(`async (config, logger) => ({ async [Symbol.asyncDispose]() {
    await new Promise((resolve) => process.once('SIGTERM', resolve));
    logger.info('drained');
  } })`);
  await service.logged('ready');
  service.child.kill('SIGINT');
  await service.logged('stopping');
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
  expect(service.messages()).toEqual(['ready', 'stopping', 'drained', 'stopped']);
});

test('a signal during the start stops the service when its start completes', async () => {
  const service = run(`async (config, logger) => {
    logger.info('starting');
    await new Promise((resolve) => process.once('SIGTERM', resolve));
    return { async [Symbol.asyncDispose]() {} };
  }`);
  await service.logged('starting');
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
  expect(service.messages()).toEqual(['starting', 'stopping', 'ready', 'stopped']);
});

test('an invalid configuration prints all validation issues and exits 1', async () => {
  const service = run(
    NEVER_DRAINS,
    `loadConfig(z.object({ HTTP_PORT: port, GRPC_PORT: port }), { HTTP_PORT: 'eighty' })`,
  );
  expect(await service.ended).toEqual({
    code: 1,
    stderr: 'HTTP_PORT: must be a port, 0 to 65535\nGRPC_PORT: is required\n',
  });
  expect(service.lines).toEqual([]);
});

test.each([
  ['an exception that is not caught', `async () => { setImmediate(() => { throw new Error('bug'); }); ${idle()} }`],
  ['a rejection that is not handled', `async () => { void Promise.reject(new Error('bug')); ${idle()} }`],
  ['a failing start', `async () => { throw new Error('bug'); }`],
  [
    'a failing stop',
    `async () => { setImmediate(() => process.kill(process.pid, 'SIGTERM'));
    return { [Symbol.asyncDispose]: async () => { throw new Error('bug'); } }; }`,
  ],
])('%s ends the process with 1 and one fatal line', async (_, start) => {
  const service = run(start);
  expect((await service.ended).code).toBe(1);
  const fatal = service.lines.filter((line) => line.level === 'fatal');
  expect(fatal).toEqual([expect.objectContaining({ err: expect.objectContaining({ message: 'bug' }) })]);
});

function idle(): string {
  return `setInterval(() => {}, 1_000); return { async [Symbol.asyncDispose]() {} };`;
}
