/** The URLs that an endpoint may have, and the events that it is sent. */
import type { DeliveryBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  expectError,
  expectStatus,
  type Hook,
  type HookOptions,
  type Program,
  startWorld,
  type World,
} from '../world.ts';
import { expectRequest } from './expect-request.ts';
import { type NameServer, startNameServer } from './name-server.ts';

let world: World;
let names: NameServer;
beforeAll(async () => {
  names = await startNameServer();
  // The only address of a non-public network that this stack allows.
  const webhook = { EGRESS_ALLOW_CIDRS: '127.0.0.1/32', EGRESS_DNS_SERVERS: names.address };
  world = await startWorld({ environment: { webhook } });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await names?.[Symbol.asyncDispose]();
});

/** Makes an attempt whose event happens now; returns its id. */
async function happen(program: Program, environment: 'test' | 'live', what: 'settled' | 'refunded'): Promise<string> {
  const partner = program[environment];
  const challenge = await world.newChallenge({ environment }, program);
  const player = await world.newPlayer({ environment, partner });
  const entered = await partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
  const { id } = expectStatus(201, entered).body;
  if (what === 'settled') expectStatus(200, await partner.reportOutcome(id, { score: 1 }));
  else expectStatus(200, await world.operator.voidAttempt(id, 'a bug'));
  return id;
}

describe('the scopes of endpoints', () => {
  type ProgramName = 'A' | 'B' | 'later' | 'theirs';
  type Scope = Omit<HookOptions, 'program_id'> & { program?: ProgramName; isOff?: boolean };

  const EVENTS = [
    ['A', 'test', 'settled'],
    ['A', 'test', 'refunded'],
    ['A', 'live', 'settled'],
    ['A', 'live', 'refunded'],
    ['B', 'test', 'settled'],
    ['B', 'test', 'refunded'],
    // A program that was made after every endpoint.
    ['later', 'test', 'settled'],
    ['later', 'live', 'refunded'],
    // Another developer's.
    ['theirs', 'test', 'settled'],
  ] as const;
  const OURS = EVENTS.map((event) => event.join(' ')).filter((event) => !event.startsWith('theirs'));

  const SCOPES: readonly (readonly [string, Scope, readonly string[]])[] = [
    ['all programs, all events', {}, OURS],
    ['all of them, given as null', { environment: null }, OURS],
    ['program A', { program: 'A' }, ['A test settled', 'A test refunded', 'A live settled', 'A live refunded']],
    ['program B', { program: 'B' }, ['B test settled', 'B test refunded']],
    [
      'the sandbox',
      { environment: 'test' },
      ['A test settled', 'A test refunded', 'B test settled', 'B test refunded', 'later test settled'],
    ],
    ['live', { environment: 'live' }, ['A live settled', 'A live refunded', 'later live refunded']],
    ['program A, live', { program: 'A', environment: 'live' }, ['A live settled', 'A live refunded']],
    ['program B, live', { program: 'B', environment: 'live' }, []],
    [
      'refunds',
      { events: ['attempt.refunded'] },
      ['A test refunded', 'A live refunded', 'B test refunded', 'later live refunded'],
    ],
    [
      'two types of program A in the sandbox',
      { program: 'A', environment: 'test', events: ['round.settled', 'attempt.settled'] },
      ['A test settled'],
    ],
    ['tests alone', { events: ['webhook.test'] }, []],
    ['all, but off', { isOff: true }, []],
    ["another developer's", { program: 'theirs' }, ['theirs test settled']],
  ];

  const hooks = new Map<string, Hook>();
  /** The name of each event in these tests, by its attempt. */
  const happened = new Map<string, string>();

  beforeAll(async () => {
    const [developer, other] = await Promise.all([world.newDeveloper(), world.newDeveloper()]);
    const programs: Partial<Record<ProgramName, Program>> = {
      A: developer.program,
      B: await world.newProgram(developer),
      theirs: other.program,
    };
    for (const [name, { program, isOff = false, ...scope }] of SCOPES) {
      const owner = program === 'theirs' ? other : developer;
      const program_id = program === undefined ? null : (programs[program]?.id ?? null);
      const hook = await world.newReceiver(owner, { ...scope, program_id });
      if (isOff) expectStatus(200, await owner.portal.updateEndpoint(hook.endpoint.id, { active: false }));
      hooks.set(name, hook);
    }
    programs.later = await world.newProgram(developer);
    await Promise.all(
      EVENTS.map(async ([name, environment, what]) => {
        const program = programs[name] ?? expect.fail(name);
        happened.set(await happen(program, environment, what), `${name} ${environment} ${what}`);
      }),
    );
    await world.allDelivered();
  });

  test.each(SCOPES)('an endpoint gets the events of its scope: %s', (name, _scope, expected) => {
    const requests = hooks.get(name)?.requests() ?? expect.fail(name);
    const received = requests.map(({ json }) => happened.get(String(json.data.attempt_id)));
    expect(received.sort()).toEqual([...expected].sort());
    for (const { json } of requests) {
      const [, environment, what] = happened.get(String(json.data.attempt_id))?.split(' ') ?? [];
      expect([json.event, json.data.test]).toEqual([`attempt.${what}`, environment === 'test' ? true : undefined]);
    }
  });
});

test('an endpoint gets no event from before it existed, nor from before its scope included it', async () => {
  const developer = await world.newDeveloper();
  const { program, portal } = developer;
  const before = await happen(program, 'test', 'settled');
  const hook = await world.newReceiver(developer, { events: ['attempt.refunded'] });
  const unwanted = await happen(program, 'test', 'settled');
  await world.allDelivered();
  expectStatus(200, await portal.updateEndpoint(hook.endpoint.id, { events: ['attempt.settled'] }));
  const wanted = await happen(program, 'test', 'settled');
  await hook.event('attempt.settled', wanted);
  await world.allDelivered();
  expect(hook.requests().map(({ json }) => json.data.attempt_id)).toEqual([wanted]);
  expect([before, unwanted]).not.toContain(wanted);
});

describe('the URLs of endpoints: public HTTPS only', () => {
  const REFUSED = [
    ['a private address', 'https://10.0.0.1/hooks'],
    ['a private address of 172.16/12', 'https://172.31.255.254/hooks'],
    ['a private address of 192.168/16', 'https://192.168.1.1/hooks'],
    ['the carrier-grade range', 'https://100.64.0.1/hooks'],
    ['the metadata address', 'https://169.254.169.254/latest/meta-data'],
    ["Azure's metadata address", 'https://168.63.129.16/hooks'],
    ['the unspecified address', 'https://0.0.0.0/hooks'],
    ['a loopback address that is not allowed', 'https://127.0.0.2/hooks'],
    ['multicast', 'https://224.0.0.1/hooks'],
    ['IPv6 loopback', 'https://[::1]/hooks'],
    ['IPv6 link-local', 'https://[fe80::1]/hooks'],
    ['IPv6 unique local', 'https://[fd00::1]/hooks'],
    ['an IPv4-mapped private address', 'https://[::ffff:10.0.0.1]/hooks'],
    ['an IPv4-compatible loopback address', 'https://[::127.0.0.2]/hooks'],
    ['a NAT64 private address', 'https://[64:ff9b::10.0.0.1]/hooks'],
    ['an address as one decimal number', 'https://2130706434/hooks'],
    ['an address in hexadecimal', 'https://0x7f000002/hooks'],
    ['an address in octal', 'https://0177.0.0.2/hooks'],
    ['a short address', 'https://10.1/hooks'],
    ['a name of a private address', 'https://private.example/hooks'],
    ['a name one of whose addresses is private', 'https://mixed.example/hooks'],
    ['http', 'http://198.51.100.1/hooks'],
    ['http to the allowed address', 'http://127.0.0.1:8080/hooks'],
    ['another scheme', 'ftp://8.8.8.8/hooks'],
    ['port 22', 'https://8.8.8.8:22/hooks'],
    ['port 80', 'https://8.8.8.8:80/hooks'],
    ['port 22 of the allowed address', 'https://127.0.0.1:22/hooks'],
    ['a user name', 'https://user@8.8.8.8/hooks'],
    ['a user name and a password', 'https://user:password@8.8.8.8/hooks'],
    ['a fragment', 'https://8.8.8.8/hooks#fragment'],
    ['a backslash', 'https:\\\\8.8.8.8/hooks'],
    ['a line end', 'https://8.8.8.8/ho\noks'],
    ['no scheme', '8.8.8.8/hooks'],
    ['no host', 'https://'],
    ['nothing', ''],
    ['2,049 characters', `https://8.8.8.8/${'a'.repeat(2_033)}`],
  ] as const;

  let developer: Developer;
  let hook: Hook;
  let before: Record<string, string>;
  beforeAll(async () => {
    names.set('private.example', ['10.0.0.1']);
    names.set('mixed.example', ['8.8.8.8', '127.0.0.2']);
    developer = await world.newDeveloper();
    hook = await world.newReceiver(developer);
    before = await world.digest();
  });

  test.each(REFUSED)('an endpoint cannot be at %s', async (_what, url) => {
    const { portal } = developer;
    expectError(400, 'invalid_request', await portal.createEndpoint({ url }));
    expectError(400, 'invalid_request', await portal.updateEndpoint(hook.endpoint.id, { url }));
  });

  test('a refused endpoint URL is not stored', async () => {
    expect(await world.digest()).toEqual(before);
    expect(expectStatus(200, await developer.portal.listEndpoints()).body.data).toEqual([hook.endpoint]);
  });

  test.each([
    ['a public address', 'https://8.8.8.8/hooks'],
    ['a public IPv6 address and a port', 'https://[2606:4700::1111]:8443/hooks?a=1'],
    ['a name that does not resolve', 'https://nowhere.example/hooks'],
    ['2,048 characters', `https://8.8.8.8/${'a'.repeat(2_032)}`],
  ])('an endpoint may be at %s', async (_what, url) => {
    const { portal } = developer;
    const { body } = expectStatus(201, await portal.createEndpoint({ url, events: ['webhook.test'] }));
    expect(body.url).toBe(url);
    expect(expectStatus(200, await portal.getEndpoint(body.id)).body.url).toBe(url);
    expectStatus(204, await portal.deleteEndpoint(body.id));
  });

  test('the addresses of an endpoint’s name are checked at every connection', async () => {
    const host = 'rebinding.example';
    const rebinding = await world.newReceiver(developer, {
      host,
      server: { names: [host] },
      program_id: developer.program.id,
    });
    const { id } = rebinding.endpoint;
    const test = async () => expectStatus(202, await developer.portal.sendTest(id)).body.delivery_id;
    /** The error kind of the first send, once that has ended. */
    const kindOf = async (delivery: string) => {
      const isOver = ({ attempts: [first] }: DeliveryBody) => first !== undefined && first.duration_ms !== null;
      return (await rebinding.delivery(delivery, isOver)).attempts[0]?.error_kind;
    };

    const unresolved = await test();
    expect(await kindOf(unresolved)).toBe('dns');
    for (const addresses of [['10.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '169.254.169.254']]) {
      names.set(host, addresses);
      expect(await kindOf(await test())).toBe('blocked');
    }
    expect(rebinding.receiver.connections()).toBe(0);

    names.set(host, ['127.0.0.1']);
    const allowed = await rebinding.find(({ json }) => json.event === 'webhook.test');
    await expectRequest(rebinding, allowed, { event: 'webhook.test', data: { message: expect.any(String) } });
    await rebinding.delivery(allowed.deliveryId, ({ status }) => status === 'delivered');
  });
});
