/**
 * Starts `createPlayerHandler` of the packed SDK on a runtime: as a server of Node, Bun or Deno, or
 * as a worker.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { PartnerProject } from './partner-project.ts';

export interface PlayerServer extends AsyncDisposable {
  readonly origin: string;
}

/** How the server reaches Laurel. */
export interface ServerSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export async function startPlayerServer(
  project: PartnerProject,
  runtime: { readonly path: string; readonly flags: readonly string[] },
  settings: ServerSettings,
): Promise<PlayerServer> {
  const script = [project.add('player-server.mjs'), JSON.stringify(settings)];
  const child = spawn(runtime.path, [...runtime.flags, ...script], {
    cwd: project.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return serverOf(child, child.stdout, (line) => Number(line));
}

/**
 * Starts a worker with the package's modules unchanged, without a bundler. A worker does not
 * resolve package folders, so each module gets the path by which the others import it.
 */
export async function startWorker(
  project: PartnerProject,
  program: string,
  { baseUrl, apiKey }: ServerSettings,
): Promise<PlayerServer> {
  const dist = 'node_modules/@laurel/sdk/dist';
  const modules = globSync('**/*.js', { cwd: join(project.folder, dist) })
    .filter((file) => !file.startsWith('command/') && file !== 'cli.js')
    .map((file) => [file === 'index.js' ? '@laurel/sdk' : `@laurel/${file}`, `${dist}/${file}`] as const);
  const own = ['worker.mjs', 'verifications.mjs'] as const;
  for (const file of own) project.add(file);
  const config = join(project.folder, 'worker.capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "server", worker = .server),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "server")],
);
const server :Workerd.Worker = (
  modules = [
    ${[...own.map((file) => [file, file] as const), ...modules]
      .map(([name, file]) => `(name = ${JSON.stringify(name)}, esModule = embed ${JSON.stringify(file)}),`)
      .join('\n    ')}
  ],
  bindings = [
    (name = "LAUREL_BASE_URL", text = ${JSON.stringify(baseUrl)}),
    (name = "LAUREL_API_KEY", text = ${JSON.stringify(apiKey)}),
  ],
  compatibilityDate = "2025-01-01",
);
`,
  );
  const child = spawn(program, ['serve', config, '--control-fd=3'], {
    cwd: project.folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  return serverOf(child, child.stdio[3] as Readable, (line) => (JSON.parse(line) as { port: number }).port);
}

async function serverOf(
  child: ChildProcess,
  output: Readable,
  portOf: (line: string) => number,
): Promise<PlayerServer> {
  const exited = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: output }), 'line') as Promise<string[]>,
    exited.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  return {
    origin: `http://127.0.0.1:${portOf(line ?? '')}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}
