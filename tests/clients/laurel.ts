/** Runs the `laurel` command as a developer does: in a separate process and folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
const CLI = join(ROOT, 'libs/sdk/src/cli.ts');

type Settings = Readonly<Record<string, string>>;

export interface EndedCommand {
  readonly code: number | null;
  readonly output: string;
}

export interface RunningCommand {
  /** The output so far, of both streams. */
  output(): string;
  /** Sends the signal, and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<EndedCommand>;
  readonly ended: Promise<EndedCommand>;
}

export interface Laurel extends AsyncDisposable {
  /** Runs the command to its end. */
  run(argv: readonly string[], settings?: Settings, input?: string): Promise<EndedCommand>;
  start(argv: readonly string[], settings: Settings): RunningCommand;
  /** Writes a file into the folder; returns its path. */
  save(name: string, content: string): Promise<string>;
  /** The position that `listen` has stored in the folder. */
  readPosition(): Promise<{ readonly start: { readonly after?: string } }>;
}

export async function createLaurel(): Promise<Laurel> {
  const directory = await mkdtemp(join(tmpdir(), 'laurel-command-'));
  const children = new Set<ChildProcess>();

  function launch(argv: readonly string[], settings: Settings, input: string): RunningCommand {
    const env = { PATH: process.env.PATH ?? '', ...settings };
    const child = spawn(NODE, [CLI, ...argv], { cwd: directory, env });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    // A command may end before it has read its input.
    child.stdin.on('error', () => undefined).end(input);
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
    return {
      output: () => output,
      end(signal) {
        child.kill(signal);
        return ended;
      },
      ended,
    };
  }

  return {
    run: (argv, settings = {}, input = '') => launch(argv, settings, input).ended,
    start: (argv, settings) => launch(argv, settings, ''),
    async save(name, content) {
      const file = join(directory, name);
      await writeFile(file, content);
      return file;
    },
    readPosition: async () => JSON.parse(await readFile(join(directory, '.laurel-listen.json'), 'utf8')),
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      await rm(directory, { recursive: true });
    },
  };
}
