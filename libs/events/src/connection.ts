/**
 * A connection to NATS that nobody waits for: it is made behind, and made again for as long as the process lives. One that breaks is
 * thrown away with everything that hung on it, subscriptions and unanswered calls; the next one starts from nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@laurel/service';
import { connect, type NatsConnection } from 'nats';
import { withinMs } from './within.ts';

export interface Connection extends AsyncDisposable {
  /** The connection while there is one. */
  readonly current: NatsConnection | undefined;
  /** Told of the present connection and of every later one. */
  onUp(listener: (nats: NatsConnection) => void): Disposable;
}

const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
/** Two unanswered pings end a connection to a server that is gone without a word. */
const PING_INTERVAL_MS = 5_000;
const GOODBYE_MS = 1_000;

export function connectNats(options: {
  /** `nats://host:port`, several separated by commas. */
  url: string;
  name: string;
  logger: Logger;
}): Connection {
  const { url, name, logger } = options;
  const servers = url.split(',').map((server) => server.trim());
  const stop = new AbortController();
  const listeners = new Set<(nats: NatsConnection) => void>();
  let current: NatsConnection | undefined;

  async function stayConnected(): Promise<void> {
    let hasToldFault = false;
    while (!stop.signal.aborted) {
      const nats = await connect({
        servers,
        name,
        reconnect: false,
        timeout: CONNECT_TIMEOUT_MS,
        pingInterval: PING_INTERVAL_MS,
        noAsyncTraces: true,
      }).catch((error: unknown) => {
        if (!hasToldFault) logger.warn({ err: error }, 'NATS is out of reach; events wait in the outbox');
        hasToldFault = true;
        return undefined;
      });
      if (nats !== undefined) {
        hasToldFault = false;
        await use(nats);
      }
      await sleep(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  async function use(nats: NatsConnection): Promise<void> {
    if (stop.signal.aborted) return await nats.close();
    current = nats;
    logger.info({ server: nats.getServer() }, 'connected to NATS');
    for (const listener of listeners) listener(nats);
    const error = await nats.closed();
    current = undefined;
    if (!stop.signal.aborted) logger.warn({ err: error }, 'the connection to NATS broke');
  }

  const ended = stayConnected();

  return {
    get current() {
      return current?.isClosed() ? undefined : current;
    },
    onUp: (listener) => {
      listeners.add(listener);
      if (current !== undefined && !current.isClosed()) listener(current);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      const nats = current;
      // What was said last, acknowledgements for example, should still leave; a server that does not answer is left behind.
      await withinMs(GOODBYE_MS, nats?.flush());
      await withinMs(GOODBYE_MS, nats?.close());
      await withinMs(GOODBYE_MS, ended);
    },
  };
}
