/**
 * Real servers for egress tests: HTTPS and raw TLS receivers of a private authority, and a name
 * server.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
} from '@laurel/local-infrastructure/certificate-authority';
import { parseCidrs } from '@laurel/untrusted-url';
import { type Answer, decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet';
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from './egress.ts';
import type { EgressResult } from './exchange.ts';

export const AUTHORITY: CertificateAuthority = await createCertificateAuthority();
/** The certificate of every host of these tests. */
const CERTIFICATE = await AUTHORITY.issue({
  names: ['receiver.test', 'localhost', '127.0.0.1', '::1'],
});

/** The limit is long enough for every request that succeeds here, on a busy machine. */
const AMPLE_MS = 10_000;
/** The limit for requests that are to time out, in whatever phase. */
export const SHORT_MS = 200;
/**
 * The limit for requests that time out after they were sent: connecting takes time on a busy
 * machine.
 */
export const TIMEOUT_AFTER_SEND_MS = 1_500;
/** An address of this machine on which no process listens, including those of other tests. */
export const UNUSED_ADDRESS = '127.86.3.9';
/** These addresses count as public in the tests; all others are as private as usual. */
const PUBLIC = parseCidrs(`127.0.0.1/32,${UNUSED_ADDRESS}/32,::1/128`);

export function egressOf(options: Partial<EgressOptions> = {}): Egress {
  return createEgress({ allowCidrs: PUBLIC, ca: AUTHORITY.certificate, ...options });
}

export function post(egress: Egress, url: string, request: Partial<EgressRequest> = {}): Promise<EgressResult> {
  const limits = { timeoutMs: AMPLE_MS, maxBodyBytes: 16_384 };
  return egress.request({ method: 'POST', url, headers: {}, body: Buffer.from('{}'), ...limits, ...request });
}

/** The result in short: the status with the body, or the kind of failure. */
export function summaryOf(result: EgressResult): string {
  if (result.kind === 'failure') return result.error;
  return `${result.status} ${result.body.toString('latin1')}${result.isTruncated ? '...' : ''}`;
}

export const hello: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('hello'));
};

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  /** Every accepted connection, oldest first. */
  readonly connections: readonly net.Socket[];
}

/** Starts an HTTPS server. */
export function serve(
  handler: RequestListener,
  { host = '127.0.0.1', port = 0, pair = CERTIFICATE }: { host?: string; port?: number; pair?: KeyPair } = {},
): Promise<Receiver> {
  const server = https.createServer({ cert: pair.certificate, key: pair.key }, handler);
  // Idle connections are closed only by tests that do so explicitly.
  server.keepAliveTimeout = 0;
  return listen(server, host, port);
}

/** A TLS server that sends arbitrary bytes, once the whole head of a request has arrived. */
export function serveRaw(onRequest: (socket: tls.TLSSocket) => void): Promise<Receiver> {
  const server = tls.createServer({ cert: CERTIFICATE.certificate, key: CERTIFICATE.key }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => chunk.includes('\r\n\r\n') && onRequest(socket));
  });
  return listen(server, '127.0.0.1', 0);
}

/** A plain TCP server. */
export function servePlain(onConnection: (socket: net.Socket) => void): Promise<Receiver> {
  return listen(net.createServer(onConnection), '127.0.0.1', 0);
}

async function listen(server: net.Server, host: string, port: number): Promise<Receiver> {
  const connections: net.Socket[] = [];
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    connections.push(socket);
  });
  server.on('tlsClientError', () => {});
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * An address that does not answer: the queue of a listening socket whose thread never accepts is
 * full, so Linux drops further packets.
 */
export async function blackHole(host = '127.0.0.1', port = 0): Promise<Receiver> {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:net').createServer();
    server.listen({ ...workerData, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(source, { eval: true, workerData: { host, port } });
  const [listening] = (await once(worker, 'message')) as [number];
  const fillers = Array.from({ length: 8 }, () => net.connect(listening, host).on('error', () => {}));
  await once(fillers[0] as net.Socket, 'connect');
  return {
    port: listening,
    connections: [],
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}

/** A name server's response to one question: records, an error, or silence. */
export type DnsReply = readonly Answer[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

export interface DnsServer extends AsyncDisposable {
  /** The address as `address:port`. */
  readonly address: string;
  /** The questions, such as `A receiver.test`; oldest first. */
  readonly questions: readonly string[];
}

export async function serveDns(reply: (type: string, name: string) => DnsReply, delayMs = 0): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4', (message, peer) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    questions.push(`${question.type} ${question.name}`);
    const answered = reply(question.type, question.name);
    if (answered === 'silence') return;
    const code = answered === 'NXDOMAIN' ? 3 : answered === 'SERVFAIL' ? 2 : 0;
    const answers = typeof answered === 'string' ? [] : [...answered];
    const packet: Packet = {
      type: 'response',
      id: query.id ?? 0,
      flags: RECURSION_DESIRED | code,
      questions: [question],
      answers,
    };
    setTimeout(() => socket.send(encode(packet), peer.port, peer.address), delayMs);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Records of one name: the addresses of each family. */
export function addressRecords(type: string, name: string, addresses: readonly string[]): readonly Answer[] {
  return addresses.flatMap((data): Answer[] => {
    const family = net.isIPv6(data) ? 'AAAA' : 'A';
    return family === type ? [{ type: family, name, ttl: 60, data }] : [];
  });
}
