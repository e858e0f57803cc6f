/** A replica of a service in the process of its tests. */
import { type ClientConstructor, createClient, type Definition, MAX_DEADLINE_MS, type TypedClient } from '@laurel/grpc';
import { createLogger, type Logger } from '@laurel/service';

/** Connects a client to a server in this process. Disposing ends the client, then the server. */
export function connectTo<Server extends { readonly port: number } & AsyncDisposable, Service extends Definition>(
  server: Server,
  XServiceClient: ClientConstructor<Service>,
  name: string,
): { readonly server: Server; readonly client: TypedClient<Service> } & AsyncDisposable {
  const address = `127.0.0.1:${server.port}`;
  // The longest deadline, because an audit reads all rows, and a test may have written millions of
  // them.
  const client = createClient(XServiceClient, { name, address, deadlineMs: MAX_DEADLINE_MS });
  return {
    server,
    client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const isShown = process.env.LAUREL_TEST_LOG === '1';

/** Creates a logger that prints nothing unless LAUREL_TEST_LOG is 1. */
export function createQuietLogger(service: string): Logger {
  return createLogger({ service, level: isShown ? 'info' : 'silent' });
}

/**
 * Creates a logger of every level, and returns its lines too. With LAUREL_TEST_LOG=1 it also prints
 * them.
 */
export function createReadLogger(service: string): { readonly logger: Logger; readonly logLines: readonly string[] } {
  const logLines: string[] = [];
  const write = (line: string) => {
    logLines.push(line);
    if (isShown) process.stdout.write(line);
  };
  return { logger: createLogger({ service, level: 'trace', destination: { write } }), logLines };
}
