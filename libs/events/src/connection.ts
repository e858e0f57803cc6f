/**
 * A connection to NATS that no caller waits for: it opens in the background, and reopens as long as
 * the process lives. A broken one is discarded with its subscriptions and pending calls.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@laurel/service';
import { gauge } from '@laurel/telemetry';
import { connect, type NatsConnection } from 'nats';
import { withinMs } from './within.ts';

export interface Connection extends AsyncDisposable {
  /** The open connection; undefined while there is none. */
  readonly current: NatsConnection | undefined;
  /** Calls the listener with the open connection and with every later one. */
  onUp(listener: (nats: NatsConnection) => void): Disposable;
}

const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
/** Two unanswered pings end a connection to a server that disappeared without closing it. */
const PING_INTERVAL_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** The prefix of the subjects on which a user receives the replies to its requests. */
export function inboxPrefixOf(user: string): string {
  return `_INBOX_${user}`;
}

/** The servers, without user and password. */
export function parseNatsUrl(url: string): {
  readonly servers: string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
} {
  const urls = url.split(',').map((server) => new URL(server.trim()));
  const withUser = urls.find(({ username }) => username !== '');
  return {
    servers: urls.map(({ host }) => `nats://${host}`),
    user: withUser && decodeURIComponent(withUser.username),
    password: withUser && decodeURIComponent(withUser.password),
  };
}

export function connectNats(options: {
  /**
   * `nats://user:password@host:port`, or several separated by commas, one of which names the user.
   */
  url: string;
  /**
   * A PEM file with the authority of the server's certificate; without it the connection is not
   * encrypted.
   */
  caFile?: string | undefined;
  name: string;
  logger: Logger;
}): Connection {
  const { url, caFile, name, logger } = options;
  const { servers, user, password } = parseNatsUrl(url);
  const identity = {
    servers,
    name,
    ...(user !== undefined && {
      user,
      pass: password ?? '',
      // Replies to this user's requests arrive below this prefix, to which no other user may
      // subscribe.
      inboxPrefix: inboxPrefixOf(user),
    }),
    tls: caFile === undefined ? null : { caFile },
  };
  const stop = new AbortController();
  const listeners = new Set<(nats: NatsConnection) => void>();
  let current: NatsConnection | undefined;
  const connected = gauge('laurel_nats_connected', 'Whether the connection to NATS is open: 1 open, 0 not.');
  connected.set(0);

  async function stayConnected(): Promise<void> {
    let hasLoggedError = false;
    while (!stop.signal.aborted) {
      const nats = await connect({
        ...identity,
        reconnect: false,
        timeout: CONNECT_TIMEOUT_MS,
        pingInterval: PING_INTERVAL_MS,
        noAsyncTraces: true,
      }).catch((error: unknown) => {
        if (!hasLoggedError) logger.warn({ err: error }, 'NATS is out of reach; events wait in the outbox');
        hasLoggedError = true;
        return undefined;
      });
      if (nats !== undefined) {
        hasLoggedError = false;
        await use(nats);
      }
      await sleep(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  async function use(nats: NatsConnection): Promise<void> {
    if (stop.signal.aborted) return await nats.close();
    current = nats;
    connected.set(1);
    logger.info({ server: nats.getServer() }, 'connected to NATS');
    for (const listener of listeners) listener(nats);
    const error = await nats.closed();
    current = undefined;
    connected.set(0);
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
      // Sends the last messages, such as acknowledgements, without waiting for a server that does
      // not respond.
      await withinMs(CLOSE_TIMEOUT_MS, nats?.flush());
      await withinMs(CLOSE_TIMEOUT_MS, nats?.close());
      await withinMs(CLOSE_TIMEOUT_MS, ended);
    },
  };
}
