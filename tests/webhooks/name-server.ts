import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const HEADER_BYTES = 12;
const TYPE_A = 1;
/** A pointer to the question's name, type A, class IN, a lifetime of 0 s, four bytes of address. */
const RECORD_A = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4]);

/** A name server with the names that a test sets; every other name does not exist. */
export interface NameServer extends AsyncDisposable {
  /** As `EGRESS_DNS_SERVERS` takes it. */
  readonly address: string;
  /** From now on the name resolves to these IPv4 addresses. */
  set(name: string, addresses: readonly string[]): void;
}

export async function startNameServer(): Promise<NameServer> {
  const zone = new Map<string, readonly string[]>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, zone), port, address));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    set: (name, addresses) => zone.set(name, addresses),
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function answerTo(query: Buffer, zone: ReadonlyMap<string, readonly string[]>): Buffer {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const known = zone.get(labels.join('.').toLowerCase());
  const addresses = type === TYPE_A ? (known ?? []) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response, recursion desired and available; NXDOMAIN where the name is unknown.
  header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.flatMap((address) => [RECORD_A, Buffer.from(address.split('.').map(Number))]);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, at + 5), ...records]);
}
