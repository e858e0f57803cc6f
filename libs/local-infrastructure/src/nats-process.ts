/**
 * A nats-server with JetStream as a child of this process, only on 127.0.0.1. It keeps its port and
 * store over stops and starts, so that clients reconnect to the same server. After `wipe` they
 * reconnect to an empty server at the same address.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from './free-port.ts';

export interface NatsProcess extends AsyncDisposable {
  /** The address without a user. */
  readonly url: string;
  /** The running process's id; undefined while it is down. */
  pid(): number | undefined;
  /** Starts it and waits until it accepts connections; does nothing if it runs. */
  start(): Promise<void>;
  /** Shuts it down gracefully, like an operator. */
  stop(): Promise<void>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
  /** Makes it hang (SIGSTOP): its connections stay, and it responds only after `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it and deletes its store. */
  wipe(): Promise<void>;
}

/** A server of a cluster whose servers reach each other on ports of 127.0.0.1. */
export interface NatsClusterPlace {
  readonly cluster: string;
  /** The server's own name in it. */
  readonly server: string;
  /** The port for the other servers. */
  readonly port: number;
  /** The ports of all servers. */
  readonly ports: readonly number[];
}

const START_DEADLINE_MS = 20_000;
const POLL_MS = 10;
const PID_FILE = 'pid';

/** Starts a nats-server on a free port. */
export async function startNatsProcess(options: {
  /** The nats-server, see obtainNats. */
  file: string;
  /** The folder of its store, log and process id. */
  directory: string;
  /**
   * A configuration file with users and certificates. Without one every client that reaches the
   * server may do everything.
   */
  configurationFile?: string;
  /** The server's place in a cluster. */
  cluster?: NatsClusterPlace;
}): Promise<NatsProcess> {
  const { file, directory, configurationFile, cluster } = options;
  const storeDirectory = join(directory, 'store');
  const logFile = join(directory, 'log');
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    if (child !== undefined) return;
    const log = await open(logFile, 'a');
    const address = ['--addr', '127.0.0.1', '--port', String(port), '--pid', join(directory, PID_FILE)];
    const configuration = configurationFile === undefined ? [] : ['--config', configurationFile];
    const place = cluster === undefined ? [] : placeArguments(cluster);
    const started = spawn(
      file,
      [...configuration, ...address, ...place, '--jetstream', '--store_dir', storeDirectory],
      {
        cwd: directory,
        env: { PATH: process.env.PATH },
        stdio: ['ignore', log.fd, log.fd],
      },
    );
    child = started;
    // A child that outlives its parent would keep the port and the store.
    process.once('exit', killAtExit);
    await once(started, 'spawn').finally(() => log.close());
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!(await accepts(port))) {
      if (hasEnded(started) || Date.now() > deadline) throw new Error(`nats-server did not start; see ${logFile}`);
      await delay(POLL_MS);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    process.removeListener('exit', killAtExit);
    if (ending === undefined || hasEnded(ending)) return;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
  }

  function killAtExit(): void {
    child?.kill('SIGKILL');
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: () => child?.pid,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    wipe: async () => {
      await end('SIGKILL');
      await rm(storeDirectory, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => end('SIGKILL'),
  };
}

/** Ends the server that a killed parent left running on this directory. */
export async function killOrphanedNats(directory: string): Promise<void> {
  const pid = Number(await readFile(join(directory, PID_FILE), 'utf8').catch(() => 'NaN'));
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  // Process ids are reused: only a process that names this directory is the server.
  const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-ww', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  if (stdout.includes(join(directory, 'store'))) process.kill(pid, 'SIGKILL');
}

function placeArguments({ cluster, server, port, ports }: NatsClusterPlace): string[] {
  const route = (to: number) => `nats-route://127.0.0.1:${to}`;
  return [
    ...['--cluster_name', cluster, '--server_name', server],
    ...['--cluster', `nats://127.0.0.1:${port}`, '--routes', ports.map(route).join()],
  ];
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.destroy());
    socket.once('close', (hadError) => resolve(!hadError));
    socket.once('error', () => undefined);
  });
}
