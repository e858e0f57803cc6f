/**
 * Opens connections. It resolves the name and refuses it if any of its addresses is forbidden. It
 * connects to exactly the checked addresses, because a second lookup could return others, and
 * verifies the certificate for the name.
 * It checks literal addresses too, which a `lookup` hook would not.
 */
import { once } from 'node:events';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { type Cidrs, mayConnectTo } from '@laurel/untrusted-url';
import { buildConnector } from 'undici';
import { EgressFailure, tlsFailure } from './failure.ts';
import type { NameResolver } from './resolver.ts';

/** A connection tries at most this many addresses of a name. */
const MAX_ADDRESSES_TRIED = 4;
/**
 * An attempt ends slightly after the requests that wait for it. Its failure then finds no waiting
 * request, so undici starts no new attempt.
 */
const GRACE_MS = 100;

export type ConnectionTarget = {
  /** A name, or a literal address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** How long the callers wait for the connection. */
  readonly timeoutMs: number;
  /** This is called once a name was resolved; never for a literal address. */
  readonly onResolved: () => void;
};

/** A verified TLS connection. Throws EgressFailure. */
export type OpenConnection = (target: ConnectionTarget) => Promise<Socket>;

export function createConnector({
  resolver,
  allowCidrs,
  ca,
  stopping,
}: {
  readonly resolver: NameResolver;
  readonly allowCidrs: Cidrs;
  readonly ca: string | undefined;
  /** The signal is aborted to cancel every attempt. */
  readonly stopping: AbortSignal;
}): OpenConnection {
  const startTls = buildConnector({
    // Created once: parsing more than a hundred root certificates takes milliseconds.
    secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...(ca === undefined ? [] : [ca])] }),
    // The option is set explicitly so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
    // TLS would not check the host name of a resumed session again. Kept-alive connections save
    // more handshakes than sessions do.
    maxCachedSessions: 0,
    allowH2: false,
    // One signal ends the whole attempt.
    timeout: 0,
  });

  async function open({ hostname, port, timeoutMs, onResolved }: ConnectionTarget): Promise<Socket> {
    const deadline = performance.now() + timeoutMs;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs + GRACE_MS)))]);
    if (isIP(hostname) !== 0) {
      const socket = await connectToAny([hostname], port, deadline, signal);
      return secure(socket, { hostname, port: String(port), protocol: 'https:' }, signal);
    }
    const addresses = await unlessAborted(resolver.resolve(hostname), signal);
    onResolved();
    const socket = await connectToAny(addresses, port, deadline, signal);
    return secure(socket, { hostname, servername: hostname, port: String(port), protocol: 'https:' }, signal);
  }

  /**
   * Tries the addresses in order, one at a time: the next when one has failed or used its share of
   * the time.
   */
  async function connectToAny(
    addresses: readonly string[],
    port: number,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Socket> {
    if (!addresses.every((address) => mayConnectTo(address, allowCidrs))) throw new EgressFailure('blocked');
    let untried = Math.min(addresses.length, MAX_ADDRESSES_TRIED);
    for (const address of addresses.slice(0, untried)) {
      const shareMs = Math.max(1, Math.ceil((deadline - performance.now()) / untried));
      untried -= 1;
      const turn = untried === 0 ? signal : AbortSignal.any([signal, AbortSignal.timeout(shareMs)]);
      const socket = await connectTcp(address, port, turn);
      if (socket !== null) return socket;
      if (signal.aborted) throw reasonOf(signal);
    }
    throw new EgressFailure('connect');
  }

  /** Connects to an address; null when the address cannot be reached before the signal. */
  async function connectTcp(address: string, port: number, signal: AbortSignal): Promise<Socket | null> {
    const socket = netConnect({ host: address, port, noDelay: true });
    // `once` listens only until the connection is open, and an error without a listener ends the
    // process.
    socket.on('error', () => {});
    try {
      await once(socket, 'connect', { signal });
    } catch {
      socket.destroy();
      return null;
    }
    // The peer's address decides: it is the one that the socket is connected to.
    if (socket.remoteAddress !== undefined && mayConnectTo(socket.remoteAddress, allowCidrs)) return socket;
    const failure = new EgressFailure(socket.remoteAddress === undefined ? 'connect' : 'blocked');
    socket.destroy();
    throw failure;
  }

  async function secure(
    socket: Socket,
    options: Omit<buildConnector.Options, 'httpSocket'>,
    signal: AbortSignal,
  ): Promise<Socket> {
    const handshake = new Promise<Socket>((resolve, reject) => {
      startTls({ ...options, httpSocket: socket }, (error, secured) => {
        if (error === null) resolve(secured);
        else reject(tlsFailure(error));
      });
    });
    try {
      return await unlessAborted(handshake, signal);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  return open;
}

/** The promise's result, or the signal's abort reason if that comes first. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(reasonOf(signal));
    if (signal.aborted) giveUp();
    // Removed afterwards, because the signal still fires while the connection is in use.
    signal.addEventListener('abort', giveUp, { once: true });
    const stopListening = () => signal.removeEventListener('abort', giveUp);
    promise.then(resolve, reject).finally(stopListening);
  });
}

function reasonOf(signal: AbortSignal): EgressFailure {
  return signal.reason instanceof EgressFailure ? signal.reason : new EgressFailure('timeout');
}
