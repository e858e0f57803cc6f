/** The URLs that endpoints may have. The test's own name server resolves their names. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createNameLookup } from '@laurel/egress';
import { expectAccepted, startReceiver } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../webhook.fixture.ts';

const A = 1;
const AAAA = 28;
const HEADER_BYTES = 12;

/** The name server's responses, by name and type; it never responds for `silent.test`. */
const RECORDS: Record<string, Partial<Record<number, readonly (readonly number[])[]>>> = {
  'public.test': { [A]: [[93, 184, 216, 34]] },
  'private.test': { [A]: [[10, 0, 0, 1]] },
  'mixed.test': {
    [A]: [
      [93, 184, 216, 34],
      [192, 168, 0, 1],
    ],
  },
  'six.test': { [A]: [[93, 184, 216, 34]], [AAAA]: [[0xfd, ...Array(14).fill(0), 1]] },
  'allowed.test': { [A]: [[127, 0, 0, 1]] },
};

let nameServer: Socket;
let address: string;
let h: Harness;

beforeAll(async () => {
  nameServer = createSocket('udp4').bind(0, '127.0.0.1');
  nameServer.on('message', (query, { port, address: from }) => {
    const answer = answerTo(query);
    if (answer !== null) nameServer.send(answer, port, from);
  });
  await once(nameServer, 'listening');
  address = `127.0.0.1:${(nameServer.address() as AddressInfo).port}`;
  h = await startHarness({ EGRESS_DNS_SERVERS: address });
});
afterAll(async () => {
  await h[Symbol.asyncDispose]();
  nameServer.close();
});

/**
 * The response in the wire format of RFC 1035: repeats the question, then has a record per address.
 */
function answerTo(query: Buffer): Buffer | null {
  const labels: string[] = [];
  let end = HEADER_BYTES;
  for (let length = query.readUInt8(end); length > 0; length = query.readUInt8(end)) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = query.readUInt16BE(end + 1);
  const question = query.subarray(HEADER_BYTES, end + 5);
  const name = labels.join('.').toLowerCase();
  if (name === 'silent.test') return null;
  const addresses = RECORDS[name]?.[type] ?? [];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(RECORDS[name] === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((bytes) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([header, question, ...records]);
}

describe('the URL of an endpoint', () => {
  it.each(['public.test', 'allowed.test', 'nowhere.test'])('an endpoint’s URL may have the host %s', async (host) => {
    const url = `https://${host}/hooks`;
    expect((await h.createEndpoint({ url })).endpoint.url).toBe(url);
  });

  it.each(['private.test', 'mixed.test', 'six.test'])('an endpoint’s URL may never have the host %s', async (host) => {
    const url = `https://${host}:8443/hooks`;
    await expect(h.createEndpoint({ url })).rejects.toThrow('invalid_request');
    const { developerId, endpoint } = await h.createEndpoint();
    expect(await h.webhook.updateEndpoint({ developerId, endpointId: endpoint.id, url })).toEqual({
      kind: 'refused',
      code: 'invalid_request',
      message: 'The host has an address that is not public.',
    });
    expect(await h.webhook.getEndpoint({ developerId, endpointId: endpoint.id })).toEqual({ endpoint });
  });

  it('the host of an unknown endpoint’s new URL is not looked up', async () => {
    const request = { developerId: newId(), endpointId: newId(), url: 'https://private.test/' };
    expect(await h.webhook.updateEndpoint(request)).toMatchObject({ code: 'not_found' });
  });
});

it('the addresses of an endpoint’s name are checked at every connection', async () => {
  const host = 'rebinding.test';
  await using receiver = await startReceiver({ ca: h.ca, names: [host] });
  const { port } = new URL(receiver.url);
  const owner = await h.createEndpoint({ url: `https://${host}:${port}/` });
  const kindOf = async (...addresses: readonly (readonly number[])[]) => {
    if (addresses.length > 0) RECORDS[host] = { [A]: addresses };
    const { developerId, endpoint } = owner;
    const { deliveryId } = expectAccepted(await h.webhook.sendTest({ developerId, endpointId: endpoint.id }));
    await h.server.whenIdle();
    return (await h.deliveriesOf(owner)).find(({ id }) => id === deliveryId)?.attempts[0]?.errorKind;
  };
  expect(await kindOf()).toBe('dns');
  for (const addresses of [
    [[10, 0, 0, 1]],
    [[169, 254, 169, 254]],
    [
      [127, 0, 0, 1],
      [192, 168, 0, 1],
    ],
  ])
    expect(await kindOf(...addresses)).toBe('blocked');
  expect(receiver.connections()).toBe(0);
  expect(await kindOf([127, 0, 0, 1])).toBeUndefined();
  expect(receiver.requests).toHaveLength(1);
});

it('a name that the name server does not resolve in time has no addresses', async () => {
  const lookUp = createNameLookup([address], 50);
  expect(await lookUp('public.test')).toEqual(['93.184.216.34']);
  expect(await lookUp('silent.test')).toEqual([]);
});
