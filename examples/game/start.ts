/** `npm run example`: the game on this machine, beside a stack that `npm start` or `npm run dev` runs. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Laurel } from '@laurel/sdk';
import { bundlePage } from './bundle.ts';
import { createAccounts, openContests } from './sandbox.ts';
import { createGame } from './server.ts';

interface Ready {
  readonly base_url: string;
  readonly operator_token: string;
  readonly demo?: { readonly program_id: string; readonly test_key: string };
}

/** Ends the command with one sentence. */
class StartFailure extends Error {}

const USUAL_PORT = 8081;
/** The page gives an answer up after 30 s: by then the server has one, if only that Laurel cannot be reached. */
const DEADLINE_MS = 20_000;

async function start(): Promise<void> {
  const { base_url, operator_token, demo } = readReady();
  const { origin } = new URL(base_url);
  await ping(origin);
  if (demo === undefined) throw new StartFailure('The stack has no demo program: run `npm start` and try again.');
  const laurel = new Laurel({ apiKey: demo.test_key, baseUrl: origin, deadlineMs: DEADLINE_MS });
  await openContests(laurel, { origin, operatorToken: operator_token, programId: demo.program_id });
  const openAccount = createAccounts({ origin, testKey: demo.test_key });
  const server = createServer(createGame({ laurel, script: await bundlePage(), openAccount }));
  const port = await listen(server, process.env.EXAMPLE_PORT);
  console.log(`Stop the clock is at http://127.0.0.1:${port} (Ctrl-C stops it). It plays in the sandbox of ${origin}.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

function readReady(): Ready {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const file = resolve(root, process.env.LAUREL_DATA_DIR ?? '.laurel', 'ready.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ready;
  } catch {
    throw new StartFailure(
      `The stack is not running (no ${file}): run \`npm start\` in another terminal and try again.`,
    );
  }
}

async function ping(origin: string): Promise<void> {
  const answer = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  if (answer?.ok) return;
  throw new StartFailure(`The stack is not running at ${origin}: run \`npm start\` in another terminal and try again.`);
}

/** The wanted port; else the usual one, or a free one where that is in use. */
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
  throw new StartFailure(`Port ${wanted} is in use: set EXAMPLE_PORT to another one.`);
}

try {
  await start();
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
