import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import type { CertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { freePorts } from './free-ports.ts';

/** One request as received. */
export interface ReceivedRequest {
  /** Counts from 1, in the order in which the requests were complete. */
  readonly number: number;
  /** When the last byte of the request arrived, in fractional milliseconds since 1970. */
  readonly receivedAt: number;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, in the order and case in which they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** What the receiver does after a request: nothing, end the connection, or send a response. */
export type ReceiverAnswer =
  | 'never'
  | 'reset'
  | {
      /** 200 by default. */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
      /** No byte of the response is sent before this resolves. */
      readonly after?: Promise<unknown>;
      /** Sends the head immediately, and never ends the body. */
      readonly isEndless?: boolean;
    };

export type AnswerRequest = (request: ReceivedRequest) => ReceiverAnswer;

export interface ReceiverOptions {
  /** Signs the receiver's certificate; a stack trusts only its own `ca`. */
  readonly ca: CertificateAuthority;
  /** The address of this machine on which the receiver listens; 127.0.0.1 by default. */
  readonly host?: string;
  /** The names of the certificate: the host and `localhost` by default. */
  readonly names?: readonly string[];
  /** A date in the past makes a certificate that has expired. */
  readonly notAfter?: Date;
  /** The port of an earlier receiver, to listen on it again; a free port by default. */
  readonly port?: number;
  /** `200` with an empty body by default. */
  readonly answer?: ReceiverAnswer | AnswerRequest;
}

/**
 * A partner's endpoint: a real HTTPS server on this machine that records its requests and responds
 * as configured.
 */
export interface Receiver extends AsyncDisposable {
  /** `https://<host>:<port>`; it serves every path. */
  readonly url: string;
  readonly port: number;
  /** All requests so far. */
  readonly requests: readonly ReceivedRequest[];
  /** The number of connections so far. */
  connections(): number;
  /** Sets the response to later requests. */
  answerWith(answer: ReceiverAnswer | AnswerRequest): void;
  /** Resolves to the n-th request, from 1, as soon as it has arrived. */
  nth(number: number, timeoutMs?: number): Promise<ReceivedRequest>;
  /** Resolves to the first request, past or future, that satisfies the predicate. */
  find(holds: (request: ReceivedRequest) => boolean, timeoutMs?: number): Promise<ReceivedRequest>;
}

interface Waiter {
  readonly holds: (request: ReceivedRequest) => boolean;
  readonly resolve: (request: ReceivedRequest) => void;
}

const WAIT_MS = 15_000;

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host = '127.0.0.1', names = [host, 'localhost'] } = options;
  const { certificate, key } = await options.ca.issue({
    names,
    ...(options.notAfter !== undefined && {
      notAfter: options.notAfter,
      notBefore: new Date(options.notAfter.getTime() - 86_400_000),
    }),
  });
  const requests: ReceivedRequest[] = [];
  const waiters = new Set<Waiter>();
  const sockets = new Map<number, Socket>();
  let connections = 0;
  let decide = toFunction(options.answer ?? {});

  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = toReceived(request, chunks, requests.length + 1);
      requests.push(received);
      for (const waiter of waiters) if (waiter.holds(received)) waiter.resolve(received);
      const answer = decide(received);
      if (answer === 'reset') sockets.get(request.socket.remotePort ?? 0)?.resetAndDestroy();
      else if (answer !== 'never') void send(response, answer);
    });
  });
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    if (remotePort === undefined) return;
    connections += 1;
    sockets.set(remotePort, socket);
    socket.once('close', () => sockets.delete(remotePort));
  });
  // A client that hangs up, or does not trust the certificate, is an expected test case.
  server.on('tlsClientError', () => undefined);
  // Zero, so that only the client closes idle connections.
  server.keepAliveTimeout = 0;

  const [freePort = 0] = options.port === undefined ? await freePorts(1) : [options.port];
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(freePort, host, resolve);
  });

  const find = async (holds: Waiter['holds'], timeoutMs: number): Promise<ReceivedRequest> => {
    const past = requests.find(holds);
    if (past !== undefined) return past;
    const { promise, resolve, reject } = Promise.withResolvers<ReceivedRequest>();
    const waiter: Waiter = { holds, resolve };
    waiters.add(waiter);
    const timer = setTimeout(
      () => reject(new Error(`none of the ${requests.length} requests within ${timeoutMs} ms was the awaited one`)),
      timeoutMs,
    );
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiters.delete(waiter);
    }
  };

  return {
    url: `https://${host}:${freePort}`,
    port: freePort,
    requests,
    connections: () => connections,
    answerWith: (answer) => {
      decide = toFunction(answer);
    },
    nth: (number, timeoutMs = WAIT_MS) => find((request) => request.number === number, timeoutMs),
    find: (holds, timeoutMs = WAIT_MS) => find(holds, timeoutMs),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      // Also destroys sockets with an unfinished TLS handshake, which the server itself does not
      // track.
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
}

function toFunction(answer: ReceiverAnswer | AnswerRequest): AnswerRequest {
  return typeof answer === 'function' ? answer : () => answer;
}

function toReceived(request: IncomingMessage, chunks: readonly Buffer[], number: number): ReceivedRequest {
  return {
    number,
    receivedAt: performance.timeOrigin + performance.now(),
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body: Buffer.concat(chunks),
  };
}

async function send(response: ServerResponse, answer: Exclude<ReceiverAnswer, string>): Promise<void> {
  await answer.after;
  // The client may have disconnected.
  if (response.destroyed) return;
  const { status = 200, headers = {}, body = '' } = answer;
  if (answer.isEndless) response.writeHead(status, headers).write(body);
  else response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
}
