/**
 * A flood of unsigned pushes at one integration. Meanwhile the integration's partner, other
 * integrations and `/v1` must be served, and the flood may hold only a bounded share of memory.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { signIntegrationBody } from '@laurel/sdk';
import { createIntegrations, push } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';

const KIB = 1024;
const PER_INTEGRATION = 600;
/** Pushes a minute from an address that has sent no valid signature. */
const PER_OTHER_ADDRESS = 60;
/**
 * The limit for bodies from such an address at one integration: a quarter of what the gateway
 * verifies a second for all such addresses, saved up for two seconds.
 */
const OTHER_ADDRESS_KIB_PER_SECOND = 512;
const KIB_OF_LARGE = 256 + 16;
const MAX_PUSH_KIB = 16 * KIB;
/** The bytes of bodies that one address may have under way: a quarter of those of all addresses. */
const QUARTER_BYTES = (MAX_PUSH_KIB * KIB) / 4;
const SMALL = Buffer.from('{}');
const LARGE = Buffer.alloc(256 * KIB, ' ');
const PARTNER = '127.0.0.2';
const [SMALL_FLOOD, LARGE_FLOOD, HOLDER] = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];

interface Target {
  readonly id: string;
  readonly secret: string;
}

let world: World;
beforeAll(async () => {
  world = await startWorld({
    environment: {
      gateway: {
        PUSH_RATE_LIMIT_PER_MINUTE: String(PER_INTEGRATION),
        MAX_PUSH_KIB_IN_FLIGHT: String(MAX_PUSH_KIB),
      },
    },
  });
});
afterAll(async () => {
  await world?.expectAuditOk();
  await world?.[Symbol.asyncDispose]();
});

async function newTarget(): Promise<Target> {
  const integrations = createIntegrations(world.partner);
  const made = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
  expectStatus(200, await integrations.update(made.id, { status: 'active' }));
  return { id: made.id, secret: made.signing_secret ?? '' };
}

async function newAttempt(): Promise<string> {
  const [challenge, player] = [await world.newChallenge(), await world.newPlayer()];
  const entry = { challenge_id: challenge.id, player_ref: player.ref };
  return expectStatus(201, await world.partner.createAttempt(entry)).body.id;
}

const portOf = () => Number(new URL(world.stack.baseUrl).port);
const pathOf = ({ id }: Target) => `/webhooks/integrations/${id}/outcome`;

/** Sends a push from this address of the machine. */
async function pushFrom(localAddress: string, target: Target, body: string | Buffer, headers = {}) {
  const options = { host: '127.0.0.1', port: portOf(), localAddress, path: pathOf(target), headers, agent: false };
  const request = httpRequest({ ...options, method: 'POST' });
  // The response to a push whose body is not read may come before all of it is sent.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, body: JSON.parse(text) };
}

/** Settles an attempt by a push of the partner's own server. Returns the status of the response. */
async function report(target: Target, attemptId: string): Promise<number | undefined> {
  const body = JSON.stringify({ attempt_id: attemptId, score: 1 });
  const signed = { 'x-service-signature': await signIntegrationBody(body, target.secret) };
  return (await pushFrom(PARTNER, target, body, signed)).status;
}

async function heldBytes(): Promise<number> {
  const [url] = world.stack.adminUrls('gateway');
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^laurel_body_bytes_in_flight(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
}

/**
 * Sends one round of well-behaved callers: the partner at its address, another integration, and
 * `/v1`.
 */
async function round(flooded: Target, other: Target, attempts: readonly [string, string, string]) {
  const [ofFlooded, ofOther, ofV1] = attempts;
  const answers = await Promise.all([
    report(flooded, ofFlooded),
    push(world.http, other, { attempt_id: ofOther, score: 1 }),
    world.partner.reportOutcome(ofV1, { score: 1 }),
    world.partner.getAttempt(ofV1),
  ]);
  return answers.map((answer) => (typeof answer === 'object' ? answer.status : answer));
}

const ROUNDS = 5;
const ALL_SERVED = Array(ROUNDS).fill([200, 200, 200, 200]);

async function newRounds() {
  const three = async () => [await newAttempt(), await newAttempt(), await newAttempt()] as const;
  return Promise.all(Array.from({ length: ROUNDS }, three));
}

/**
 * Sends twelve pushes at a time from one address while the well-behaved callers are at work, and at
 * least until the address would reach its limit for a minute.
 */
async function flood(from: string, body: Buffer) {
  for (;;) {
    const [flooded, other, rounds] = [await newTarget(), await newTarget(), await newRounds()];
    const minute = Math.floor(Date.now() / 60_000);
    const startedAt = performance.now();
    const answers: Awaited<ReturnType<typeof pushFrom>>[] = [];
    const held: number[] = [];
    const served: unknown[] = [];
    let isOver = false;
    const pushOn = async () => {
      while (!isOver || answers.length < PER_OTHER_ADDRESS + 12) {
        answers.push(await pushFrom(from, flooded, body));
      }
    };
    const flooding = Promise.all(Array.from({ length: 12 }, pushOn));
    for (const attempts of rounds) {
      served.push(await round(flooded, other, attempts));
      held.push(await heldBytes());
    }
    isOver = true;
    await flooding;
    const seconds = (performance.now() - startedAt) / 1_000;
    const last = await pushFrom(from, flooded, body);
    if (Math.floor(Date.now() / 60_000) !== minute) continue;
    expect(served).toEqual(ALL_SERVED);
    expect(Math.max(...held)).toBeLessThanOrEqual(MAX_PUSH_KIB * KIB);
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    return { verified: statuses.filter((status) => status === 401).length, answers, last, seconds, minute };
  }
}

test('unsigned pushes from one address are 429 above the limit of that address', async () => {
  const { verified, last, minute } = await flood(SMALL_FLOOD, SMALL);
  expect(verified).toBe(PER_OTHER_ADDRESS);
  expect([last.status, last.body]).toEqual([
    429,
    {
      error: 'Too many requests.',
      retry_after: expect.any(Number),
      limit: PER_OTHER_ADDRESS,
      reset_at: new Date((minute + 1) * 60_000).toISOString(),
    },
  ]);
});

test('only a few large unsigned pushes a second from one address are verified', async () => {
  const { verified, answers, seconds } = await flood(LARGE_FLOOD, LARGE);
  expect(verified).toBeLessThanOrEqual((OTHER_ADDRESS_KIB_PER_SECOND * (2 + seconds)) / KIB_OF_LARGE);
  for (const { status, body } of answers) {
    if (status !== 429) continue;
    expect(body).toMatchObject({ retry_after: 1, limit: OTHER_ADDRESS_KIB_PER_SECOND * KIB });
  }
});

test('bodies that never end hold at most the share of memory of their address', async () => {
  // The budget is large enough that the bytes of a second do not bound the pushes.
  await world.stack.restart('gateway', 0, { PUSH_UNKNOWN_KIB_PER_SECOND: String(4 * MAX_PUSH_KIB) });
  const [flooded, other, rounds] = [await newTarget(), await newTarget(), await newRounds()];
  const head = `POST ${pathOf(flooded)} HTTP/1.1\r\nhost: x\r\ncontent-length: ${LARGE.length}\r\n\r\n`;
  const sockets: Socket[] = [];
  try {
    for (let count = 0; count < 40; count += 1) {
      const socket = connect({ host: '127.0.0.1', port: portOf(), localAddress: HOLDER });
      socket.on('error', () => {});
      socket.resume().write(head);
      socket.write(LARGE.subarray(1));
      sockets.push(socket);
    }
    await eventually(async () => (await heldBytes()) > QUARTER_BYTES / 2 || undefined, 'the bodies are held');
    const served: unknown[] = [];
    for (const attempts of rounds) {
      served.push(await round(flooded, other, attempts));
      expect(await heldBytes()).toBeLessThanOrEqual(QUARTER_BYTES + 64 * KIB);
    }
    expect(served).toEqual(ALL_SERVED);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await eventually(async () => (await heldBytes()) === 0 || undefined, 'nothing is held');
});
