/**
 * Decides which callers may hold a connection, and for how long. A connection costs a descriptor
 * and some ten KiB before anything is known of its caller.
 *
 * - waiting: no request is in flight. The connection is new or idle, or the headers of its request
 *   arrive slowly; this file cannot distinguish these three.
 * - busy: a request is in flight.
 * - leaving: its request was answered before its whole body arrived. The caller has a moment to
 *   read the response and to finish; then the connection is destroyed. If the body ends in time,
 *   the connection continues.
 *
 * When the process or one client address has as many connections as it may have, a new connection
 * displaces another: first the oldest that is leaving, then the longest waiting that never showed a
 * valid credential, then the longest waiting of all. If all are busy, the new one is refused. So a
 * caller that sends a request immediately is served, and a caller that only holds connections loses
 * them.
 *
 * `http/http-server.ts` limits the time for headers (10 s) and for whole requests (30 s). This file
 * limits how long a body may stall, and how long a response may stay unread.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { counter, gauge } from '@laurel/telemetry';
import { networkOf } from '../domain/client-network.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  /** Answers a caller whose body stalls, and ends its connection. */
  readonly abort: (socket: Socket) => void;
  /**
   * Many clients share the connections of a proxy. They are counted by their requests
   * (`client-requests.ts`), not by the proxy's address.
   */
  readonly isProxy: (address: string) => boolean;
  /** Aborts a body if no byte of it arrives for this long. */
  readonly bodyStallMs?: number;
  /** Aborts a response if the caller reads no byte of it for this long. */
  readonly answerStallMs?: number;
}

export interface Connections extends Disposable {
  /**
   * The server calls this for every request before it serves it. False refuses the request.
   */
  begin(request: IncomingMessage, response: ServerResponse, isCallerKnown: () => boolean): boolean;
}

/** The defaults. `all` is lower if the process may not open so many files. */
export const DEFAULT_CONNECTIONS = { all: 2_000, perAddress: 500 } as const;

const SWEEP_MS = 250;
/**
 * How long a leaving connection stays open: enough to read a response over the slowest line, and to
 * finish a body that had nearly arrived.
 */
const LINGER_MS = 1_000;
const BODY_STALL_MS = 10_000;
const ANSWER_STALL_MS = 30_000;
/**
 * The most unanswered requests on one connection. A caller that waits for each response never has
 * so many.
 */
const MAX_PIPELINED = 16;

class Connection {
  readonly socket: Socket;
  /** Undefined for a connection of a proxy. */
  readonly address: Address | undefined;
  isKnown = false;
  requestsInFlight = 0;
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /**
   * When the response was sent, if it was sent before the whole body of the request had arrived.
   */
  leavingSince: number | undefined;
  isTimed = false;

  constructor(socket: Socket, address: Address | undefined) {
    this.socket = socket;
    this.address = address;
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    this.leavingSince = undefined;
    this.isTimed = false;
    this.requestsInFlight += 1;
    this.request = request;
    this.response = response;
  }
}

/**
 * The waiting connections, in the order in which they are displaced. A set keeps the order of
 * insertion, so its first connection is the oldest.
 */
class WaitingConnections {
  readonly leaving = new Set<Connection>();
  readonly unknown = new Set<Connection>();
  readonly known = new Set<Connection>();

  add(connection: Connection): void {
    const { leavingSince, isKnown } = connection;
    if (leavingSince !== undefined) this.leaving.add(connection);
    else if (isKnown) this.known.add(connection);
    else this.unknown.add(connection);
  }

  delete(connection: Connection): void {
    if (!this.unknown.delete(connection) && !this.known.delete(connection)) this.leaving.delete(connection);
  }

  first(): Connection | undefined {
    for (const connections of [this.leaving, this.unknown, this.known]) {
      for (const connection of connections) return connection;
    }
    return undefined;
  }
}

class Address extends WaitingConnections {
  readonly network: string;
  connections = 0;

  constructor(network: string) {
    super();
    this.network = network;
  }
}

/** The open connections at all ports of the process. */
let openConnections = 0;

/** Publishes the metrics of connections. */
function publishConnections() {
  gauge('laurel_connections', 'Connections of callers that are open.', [], () => openConnections);
  const ended = counter(
    'laurel_connections_ended_total',
    'Connections that were ended on this side before their time.',
    ['reason'],
  );
  const end = ({ socket }: Connection, reason: string) => {
    ended.inc({ reason });
    socket.destroy();
  };
  return { ended, end };
}

/**
 * When a caller asks to close the connection, Node destroys it after the response. If bytes were
 * still unread, the caller would lose the response.
 */
function leaveGently(connection: Connection): void {
  const { socket } = connection;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (connection.request?.complete === false) socket.end();
    else destroySoon();
  };
}

export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const { maxConnections, maxPerAddress, abort, isProxy } = limits;
  const { bodyStallMs = BODY_STALL_MS, answerStallMs = ANSWER_STALL_MS } = limits;
  const all = new WaitingConnections();
  const busy = new Set<Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  const addresses = new Map<string, Address>();
  let open = 0;
  const { ended, end } = publishConnections();

  /**
   * Frees a slot: ends the waiting connection that matters least. Returns false if all are busy.
   */
  const displaceOne = (among: WaitingConnections): boolean => {
    const least = among.first();
    if (least === undefined) return false;
    remove(least);
    end(least, 'displaced');
    return true;
  };
  const wait = (connection: Connection) => {
    all.add(connection);
    connection.address?.add(connection);
  };
  const stopWaiting = (connection: Connection) => {
    all.delete(connection);
    connection.address?.delete(connection);
  };
  const remove = (connection: Connection) => {
    const { socket, address } = connection;
    if (!bySocket.delete(socket)) return;
    busy.delete(connection);
    stopWaiting(connection);
    open -= 1;
    openConnections -= 1;
    if (address === undefined) return;
    address.connections -= 1;
    if (address.connections === 0) addresses.delete(address.network);
  };

  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress;
    // The caller reset the connection while it waited to be accepted.
    if (peer === undefined) return void socket.destroy();
    const network = networkOf(peer);
    const address = isProxy(peer) ? undefined : (addresses.get(network) ?? new Address(network));
    const isTooMany =
      (address !== undefined && address.connections >= maxPerAddress && !displaceOne(address)) ||
      (open >= maxConnections && !displaceOne(all));
    if (isTooMany) {
      ended.inc({ reason: 'refused' });
      return void socket.destroy();
    }
    const connection = new Connection(socket, address);
    bySocket.set(socket, connection);
    leaveGently(connection);
    open += 1;
    openConnections += 1;
    if (address !== undefined) {
      address.connections += 1;
      addresses.set(network, address);
    }
    wait(connection);
    socket.once('close', () => remove(connection));
  });

  server.on('timeout', (socket: Socket) => {
    const { request, response } = bySocket.get(socket) ?? {};
    if (request?.complete === false && response?.headersSent === false) {
      ended.inc({ reason: 'stalled' });
      return abort(socket);
    }
    socket.destroy();
  });

  /** Ends a request, whose response was sent or will never be sent. */
  const finish = (connection: Connection) => {
    connection.requestsInFlight -= 1;
    if (connection.requestsInFlight > 0 || !bySocket.has(connection.socket)) return;
    if (connection.request?.complete === false) {
      connection.leavingSince = performance.now();
    } else {
      busy.delete(connection);
      connection.request = connection.response = undefined;
    }
    wait(connection);
  };

  const look = (connection: Connection, now: number) => {
    const { socket, request, response, leavingSince } = connection;
    if (request === undefined || response === undefined) return;
    if (leavingSince !== undefined) {
      if (request.complete && socket.writableEnded) socket.destroy();
      else if (request.complete) {
        stopWaiting(connection);
        connection.leavingSince = undefined;
        busy.delete(connection);
        connection.request = connection.response = undefined;
        wait(connection);
      } else if (now - leavingSince > LINGER_MS) end(connection, 'lingered');
      return;
    }
    const isAwaited = !request.complete || response.headersSent;
    if (isAwaited === connection.isTimed) return;
    connection.isTimed = isAwaited;
    socket.setTimeout(isAwaited ? (request.complete ? answerStallMs : bodyStallMs) : 0);
  };
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of busy) look(connection, now);
  }, SWEEP_MS).unref();

  return {
    begin(request, response, isCallerKnown) {
      const connection = bySocket.get(request.socket);
      if (connection === undefined) return false;
      if (connection.requestsInFlight === MAX_PIPELINED) {
        end(connection, 'pipelined');
        return false;
      }
      stopWaiting(connection);
      connection.serve(request, response);
      busy.add(connection);
      response.on('close', () => {
        connection.isKnown ||= isCallerKnown();
        finish(connection);
      });
      return true;
    },
    [Symbol.dispose]: () => clearInterval(sweep),
  };
}

/** The descriptors reserved for the database, the other services, the files and the log. */
const RESERVED_DESCRIPTORS = 128;
const OPEN_FILES = /^Max open files\s+(\d+)/m;

/**
 * How many connections the process's file descriptors allow: without a free descriptor it cannot
 * reach its database.
 */
export function connectionsByDescriptors(limits: string | null = readLimits()): number {
  const descriptors = limits === null ? Number.NaN : Number(OPEN_FILES.exec(limits)?.[1]);
  if (!Number.isInteger(descriptors)) return Number.MAX_SAFE_INTEGER;
  return Math.max(1, descriptors - RESERVED_DESCRIPTORS);
}

function readLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // The platform is not Linux.
    return null;
  }
}
