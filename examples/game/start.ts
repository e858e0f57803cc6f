/**
 * `npm run example`: runs the game on this machine, beside a stack that `npm start` or `npm run
 * dev` runs.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { commandChain, untilChainBreaks } from '@laurel/local-infrastructure/command-chain';
import { createOperator, findRunningStack, StackFailure } from '@laurel/local-infrastructure/running-stack';
import { Laurel } from '@laurel/sdk';
import { bundlePage } from './bundle.ts';
import { openContests } from './contests.ts';
import { createGame } from './server.ts';

interface Known {
  readonly demo?: { readonly program_id: string; readonly test_key: string };
}

const USUAL_PORT = 8081;
/**
 * The page gives up after 30 s. By then the server has a response, even if only that Laurel cannot
 * be reached.
 */
const DEADLINE_MS = 20_000;

async function start(): Promise<void> {
  const stack = await findRunningStack<Known>();
  const { origin, demo } = stack;
  if (demo === undefined) throw new StackFailure('The stack has no demo program: run `npm start` and try again.');
  const laurel = new Laurel({ apiKey: demo.test_key, baseUrl: origin, deadlineMs: DEADLINE_MS });
  await openContests(laurel, createOperator(stack), demo.program_id);
  const server = createServer(createGame({ laurel, script: await bundlePage() }));
  const port = await listen(server, process.env.EXAMPLE_PORT);
  console.log(`Stop the clock is at http://127.0.0.1:${port} (Ctrl-C stops it). It plays in the sandbox of ${origin}.`);
  const ending = new AbortController();
  ending.signal.addEventListener('abort', () => {
    server.close();
    server.closeAllConnections();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ending.abort());
  // npm hands SIGTERM to its shell, which does not hand it on.
  void untilChainBreaks(commandChain(), ending.signal).then(() => ending.abort());
}

/** Listens on the wanted port; by default on the usual one, or on a free one if that is in use. */
async function listen(server: Server, wanted: string | undefined): Promise<number> {
  for (const port of wanted === undefined ? [USUAL_PORT, 0] : [Number(wanted)]) {
    server.listen(port, '127.0.0.1');
    const error = await once(server, 'listening').then(
      () => undefined,
      (failure: NodeJS.ErrnoException) => failure,
    );
    if (error === undefined) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE') throw error;
  }
  throw new StackFailure(`Port ${wanted} is in use: set EXAMPLE_PORT to another one.`);
}

try {
  await start();
} catch (error) {
  if (!(error instanceof StackFailure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
