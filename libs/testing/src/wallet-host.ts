/**
 * The processes in which the tests of other services run their wallets. A process loads the
 * wallet's code once and starts one wallet after another, each on its own database. A test that
 * kills its wallet kills the process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from '@laurel/service/node-flags';
import { endWithThisProcess } from './at-exit.ts';
import { NODE } from './checkout.ts';

const PROGRAM = fileURLToPath(new URL('./wallet-host.program.ts', import.meta.url));

/** A command to the process: start a wallet with these settings, or stop the wallet. */
export type WalletOrder = { readonly start: Readonly<Record<string, string>> } | 'stop';
/** The report of the process after a command: the failure, or null. */
export type WalletReport = { readonly failure: string | null };

export interface WalletHost {
  /** Resolves when the wallet serves. */
  start(settings: Readonly<Record<string, string>>): Promise<void>;
  /** Kills the process. `start` starts another process. */
  kill(): Promise<void>;
  /** Stops the wallet and keeps the process for the next test. */
  release(): Promise<void>;
}

/** The processes of this worker that run no wallet. */
const free: ChildProcess[] = [];

export function createWalletHost(): WalletHost {
  let child: ChildProcess | undefined;
  return {
    async start(settings) {
      child ??= free.pop() ?? forkProgram();
      await order(child, { start: settings });
    },
    async kill() {
      const killed = child;
      child = undefined;
      if (killed === undefined) return;
      const exited = once(killed, 'exit');
      killed.kill('SIGKILL');
      await exited;
    },
    async release() {
      const released = child;
      child = undefined;
      if (released === undefined) return;
      await order(released, 'stop');
      free.push(released);
    },
  };
}

function forkProgram(): ChildProcess {
  const child = fork(PROGRAM, {
    execPath: NODE,
    execArgv: [...NODE_FLAGS, '--disable-warning=ExperimentalWarning'],
    // The process gets no other variable of the test runner's environment.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache') },
  });
  endWithThisProcess(child);
  // Lets a worker end after its last file, although this process waits for another one.
  child.unref();
  child.channel?.unref();
  return child;
}

async function order(child: ChildProcess, what: WalletOrder): Promise<void> {
  const answered = new AbortController();
  const reported = once(child, 'message', answered) as Promise<[WalletReport]>;
  const ended = once(child, 'exit', answered).then((): never => {
    throw new Error('the process of the wallet ended');
  });
  child.channel?.ref();
  child.send(what);
  try {
    const [{ failure }] = await Promise.race([reported, ended]);
    if (failure !== null) throw new Error(`the wallet: ${failure}`);
  } finally {
    answered.abort();
    child.channel?.unref();
  }
}
