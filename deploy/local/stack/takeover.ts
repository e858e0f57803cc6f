/**
 * `npm run dev -- <service>` takes one service over from the running stack, through a Unix socket
 * in the data directory, which only its owner can open.
 * The connection is the lease. The taker sends one line that names a service. The launcher ends its
 * own process of that service and responds with everything that another process needs. When the
 * connection closes for any reason, the launcher starts its own process again.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServiceLaunch } from './service-process.ts';
import { StartFailure } from './start-failure.ts';
import type { SupervisedProcess } from './supervisor.ts';

export interface OfferedService {
  readonly launch: ServiceLaunch;
  readonly supervised: Pick<SupervisedProcess, 'pause' | 'resume'>;
}

type Answer = { readonly launch: ServiceLaunch } | { readonly refused: string };

const socketOf = (dataDir: string) => join(dataDir, 'control', 'takeover.sock');

/** Offers the services of this stack for takeover until it is disposed. */
export async function offerServices(
  dataDir: string,
  services: ReadonlyMap<string, OfferedService>,
  print: (line: string) => void,
): Promise<AsyncDisposable> {
  const path = socketOf(dataDir);
  const inUse = new Set<string>();
  const connections = new Set<Socket>();

  const take = async (name: string, connection: Socket): Promise<Answer> => {
    const offered = services.get(name);
    if (offered === undefined) return { refused: `There is no service ${name}: ${[...services.keys()].join(', ')}.` };
    if (inUse.has(name)) return { refused: `Another "npm run dev -- ${name}" runs this service: stop that one first.` };
    inUse.add(name);
    connection.once('close', () => {
      inUse.delete(name);
      print(`${name} is back: starting it ...`);
      offered.supervised.resume();
    });
    print(`${name} is taken over by "npm run dev -- ${name}" until that ends.`);
    await offered.supervised.pause();
    return { launch: offered.launch };
  };

  const server = createServer((connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection)).on('error', () => undefined);
    createInterface({ input: connection })
      .on('error', () => undefined)
      .once('line', (name) => {
        void take(name, connection).then((answer) => connection.write(`${JSON.stringify(answer)}\n`));
      });
  });
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  rmSync(path, { force: true });
  await new Promise<void>((listening) => {
    server.once('error', (error) => {
      print(`"npm run dev -- <service>" cannot take a service over (${error.message}); everything else works.`);
      listening();
    });
    server.listen(path, listening);
  });
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

/** Lets this process run a service until it disposes the lease. */
export interface Lease extends Disposable {
  readonly launch: ServiceLaunch;
  /** Resolves when the launcher has exited or the lease is disposed. */
  readonly ended: Promise<void>;
}

export async function takeOver(dataDir: string, service: string): Promise<Lease> {
  const connection = connect(socketOf(dataDir));
  const ended = new Promise<void>((resolve) => connection.once('close', () => resolve()));
  const answered = new Promise<Answer>((resolve) => {
    createInterface({ input: connection })
      .on('error', () => undefined)
      .once('line', (line) => resolve(JSON.parse(line)));
  });
  connection.on('error', () => undefined).write(`${service}\n`);
  const answer = await Promise.race([answered, ended]);
  if (answer === undefined) {
    throw new StartFailure(
      `No stack runs from ${dataDir}: run "npm start" in another terminal, and then this command again.`,
    );
  }
  if ('launch' in answer) {
    return { launch: answer.launch, ended, [Symbol.dispose]: () => void connection.destroy() };
  }
  connection.destroy();
  throw new StartFailure(answer.refused);
}
