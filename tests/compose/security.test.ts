/**
 * What an intruder with a container on the deployment's networks gets: without a certificate or
 * with another service's, without a NATS user or with another's, with a stolen database URL, and on
 * foreign networks. Each attempt is made from a separate container; the same attempt by the
 * rightful caller shows that it would have worked.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { CHECKOUT } from '@laurel/testing';
import { type CalledService, isCalled, SERVICE_NAMES, SERVICES } from '@laurel/topology';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';
import { type Containers, openContainers } from './containers.ts';
import type { Intrusion, Results } from './intruder.ts';

const PERMISSION_DENIED = '7';
const UNAVAILABLE = '14';
/**
 * A name outside the network: the embedded resolver knows only names of the container's networks.
 */
const NO_SUCH_NAME = /^(ENOTFOUND|EAI_AGAIN)$/;
/** An alert of TLS, or an end of the connection without one. */
const REJECTED_CERTIFICATE = /^(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED|ERR_SSL_\w*UNKNOWN_CA|ECONNRESET|closed)$/;
const NO_ROUTE = /^(ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)$/;
/** Contains the clients of every service, of NATS and of PostgreSQL. */
const IMAGE = 'laurel-test/challenge';
/**
 * A folder of the identities: a certificate that names the gateway, by an authority that the
 * deployment does not know.
 */
const FOREIGN = 'foreign';

let world: SharedWorld;
let containers: Containers;

beforeAll(async () => {
  world = await joinWorld();
  containers = openContainers();
  await writeForeign(`${containers.description.identities}/${FOREIGN}`);
});
afterAll(async () => {
  await world?.expectAuditOk();
  await world?.[Symbol.asyncDispose]();
});

async function writeForeign(folder: string): Promise<void> {
  const authority = await createCertificateAuthority('somebody else');
  const issued = await authority.issue({ names: [], service: 'gateway' });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/tls.crt`, issued.certificate);
  writeFileSync(`${folder}/tls.key`, issued.key);
  // The intruder trusts the services' authority, so a refusal can only come from a service.
  writeFileSync(`${folder}/ca.crt`, readFileSync(`${containers.description.identities}/gateway/ca.crt`));
}

/** Makes the attempts from a new container on this network, and returns their results. */
async function fromContainerOn(network: string, attempts: readonly Intrusion[]): Promise<Results> {
  const { docker, description } = containers;
  const mounts = [
    `${CHECKOUT}tests/compose/intruder.ts:/app/services/challenge/src/intruder.ts:ro`,
    `${description.identities}:/run/identities:ro`,
  ];
  const printed = await docker(
    ...['run', '--rm', '--user', 'root', '--network', `${description.project}_${network}`],
    // A name that does not exist is refused soon.
    ...['--dns-opt', 'timeout:1', '--dns-opt', 'attempts:1'],
    ...mounts.flatMap((mount) => ['--volume', mount]),
    ...[IMAGE, 'node', '--disable-warning=ExperimentalWarning', 'src/intruder.ts', JSON.stringify(attempts)],
  );
  return JSON.parse(printed);
}

const callsOf = (name: (typeof SERVICE_NAMES)[number]): readonly string[] => SERVICES[name].calls;

describe('the ports of the services', () => {
  const REFUSED_IDENTITIES: readonly (string | null)[] = [null, FOREIGN, 'nats'];

  test.each(SERVICE_NAMES.filter(isCalled).map((name) => [name]))(
    '%s answers its callers, and refuses a container without TLS, with a foreign certificate, NATS’s, and those of services that do not call it',
    async (service: CalledService) => {
      const identities = [...REFUSED_IDENTITIES, ...SERVICE_NAMES];
      const attempts = identities.map((identity) => ({ kind: 'rpcs', service, identity }) as const);
      const results = await fromContainerOn(`gateway-${service}`, attempts);
      for (const [index, identity] of identities.entries()) {
        const result = results[index];
        if (REFUSED_IDENTITIES.includes(identity)) expect([identity, result]).toEqual([identity, UNAVAILABLE]);
        else if (SERVICE_NAMES.some((name) => name === identity && callsOf(name).includes(service)))
          expect([
            identity,
            result?.split(' ').some((code) => code !== PERMISSION_DENIED && code !== UNAVAILABLE),
          ]).toEqual([identity, true]);
        else expect([identity, result]).toEqual([identity, PERMISSION_DENIED]);
      }
    },
  );

  test.each(SERVICE_NAMES.filter(isCalled).map((name) => [name]))(
    '%s ends a TLS connection without a certificate, and one with a certificate of another authority',
    async (service: CalledService) => {
      const attempts = ['gateway', null, FOREIGN].map((identity) => ({ kind: 'tls', service, identity }) as const);
      const [gateway, none, foreign] = await fromContainerOn(`gateway-${service}`, attempts);
      expect(gateway).toBe('ok');
      expect(none).toMatch(REJECTED_CERTIFICATE);
      expect(foreign).toMatch(REJECTED_CERTIFICATE);
    },
  );
});

describe('NATS', () => {
  const urlOf = (user: string) => {
    const file = readFileSync(`${containers.description.identities}/${user}.env`, 'utf8');
    return file.trim().replace('NATS_URL=', '');
  };
  const eventOfChallenge = 'laurel.test.challenge.attempt.settled';

  test('NATS refuses a container without a user, with a wrong password or without TLS', async () => {
    const attempts = [
      { url: 'nats://nats:4222', tls: true },
      { url: 'nats://challenge:wrong@nats:4222', tls: true },
      { url: urlOf('challenge'), tls: false },
    ].map((given) => ({ kind: 'publish', subject: eventOfChallenge, ...given }) as const);
    const [anonymous, wrong, plain] = await fromContainerOn('challenge-events', attempts);
    expect(anonymous).toBe('AUTHORIZATION_VIOLATION');
    expect(wrong).toBe('AUTHORIZATION_VIOLATION');
    expect(plain).not.toBe('ok');
  });

  test('NATS refuses an event of a challenge from any other service', async () => {
    const users = ['webhook', 'tournament', 'challenge'];
    const publish = (user: string, to: string) =>
      ({ kind: 'publish', subject: to, url: urlOf(user), tls: true }) as const;
    const [webhook, tournament, ...permitted] = await fromContainerOn('webhook-events', [
      publish('webhook', eventOfChallenge),
      publish('tournament', eventOfChallenge),
      // Every user may publish a request for the state of the stream.
      ...users.map((user) => publish(user, '$JS.API.STREAM.INFO.LAUREL')),
    ]);
    expect(webhook).toMatch(/PERMISSIONS/);
    expect(tournament).toMatch(/PERMISSIONS/);
    expect(permitted).toEqual(users.map(() => 'ok'));
  });
});

describe('PostgreSQL', () => {
  test.each(SERVICE_NAMES.map((name) => [name]))(
    'the running role of %s can enter only its own database, and no other password works',
    async (service) => {
      const url = new URL(world.stack.database(service).runningUrl);
      url.hostname = 'postgres';
      const variant = (change: (changed: URL) => void) => {
        const changed = new URL(url);
        change(changed);
        return { kind: 'query', url: changed.href, text: 'select 1' } as const;
      };
      const others = SERVICE_NAMES.filter((name) => name !== service);
      const results = await fromContainerOn(`${service}-database`, [
        variant(() => {}),
        variant((it) => {
          it.password = 'wrong';
        }),
        variant((it) => {
          it.password = '';
        }),
        variant((it) => {
          it.username = 'postgres';
          it.pathname = '/postgres';
        }),
        { ...variant(() => {}), text: 'create table mine (id int)' },
        ...others.map((other) =>
          variant((it) => {
            it.pathname = `/${other}`;
          }),
        ),
      ]);
      const [own, wrong, none, superuser, table, ...elsewhere] = results;
      expect(own).toBe('ok');
      // 28P01: the password is wrong. 42501: the role lacks the privilege.
      expect([wrong, superuser, table]).toEqual(['28P01', '28P01', '42501']);
      expect(none).not.toBe('ok');
      expect(elsewhere).toEqual(others.map(() => '42501'));
    },
  );
});

describe('networks', () => {
  test('a container reaches only what shares a network with it', async () => {
    const ports = [
      ['wallet', 9000],
      ['challenge', 9000],
      ['tournament', 9000],
      ['integration', 9000],
      ['gateway', 8080],
      ['postgres', 5432],
    ] as const;
    const results = await fromContainerOn(
      'webhook-events',
      ports.map(([host, port]) => ({ kind: 'connect', host, port })),
    );
    for (const [index, result] of results.entries())
      expect([ports[index]?.[0], result]).toEqual([ports[index]?.[0], expect.stringMatching(NO_SUCH_NAME)]);
    const addresses = Object.values((await containers.stateOf('wallet')).networks);
    const byAddress = await fromContainerOn(
      'webhook-events',
      addresses.map((host) => ({ kind: 'connect', host, port: 9000 })),
    );
    for (const result of byAddress) expect(result).toMatch(NO_ROUTE);
  });

  test.each(['gateway', 'webhook', 'integration'] as const)(
    'a container on the network that connects %s to the outside reaches no other service',
    async (name) => {
      const ports = { gateway: [8080, 9100], webhook: [9000, 9100], integration: [9000, 9100] } as const;
      const attempt = (host: string, port: number) => ({ kind: 'connect', host, port }) as const;
      const own = ports[name].map((port) => attempt(name, port));
      const others = SERVICE_NAMES.filter((other) => other !== name);
      const networkOf = (other: string) => `${containers.description.project}_${other}-outside`;
      const addresses = await Promise.all(
        (['gateway', 'webhook', 'integration'] as const)
          .filter((other) => other !== name)
          .map(async (other) => {
            const address = (await containers.stateOf(other)).networks[networkOf(other)] ?? '';
            return ports[other].map((port) => attempt(address, port));
          }),
      );
      const results = await fromContainerOn(`${name}-outside`, [
        ...own,
        ...others.map((other) => attempt(other, other === 'gateway' ? 8080 : 9000)),
        ...addresses.flat(),
      ]);
      expect(results.slice(0, own.length)).toEqual(own.map(() => 'ok'));
      const named = results.slice(own.length, own.length + others.length);
      expect(named).toEqual(others.map(() => expect.stringMatching(NO_SUCH_NAME)));
      const addressed = results.slice(own.length + others.length);
      expect(addressed).toEqual(addresses.flat().map(() => expect.stringMatching(NO_ROUTE)));
    },
  );

  test.each(['wallet', 'challenge', 'tournament'])('%s has no route to the outside', async (name) => {
    const { docker, idOf } = containers;
    const outside =
      (await containers.stateOf('webhook')).networks[`${containers.description.project}_webhook-outside`] ?? '';
    const script = `require('node:net').connect({ host: '${outside}', port: 9100, timeout: 2000 }).once('connect', () => console.log('ok')).once('timeout', () => { console.log('ETIMEDOUT'); process.exit(); }).once('error', (error) => console.log(error.code))`;
    expect(await docker('exec', await idOf(name), 'node', '-e', script)).toMatch(NO_ROUTE);
  });
});

describe('containers', () => {
  test.each(SERVICE_NAMES.map((name) => [name]))(
    '%s runs as a user without privileges on a read-only file system',
    async (name) => {
      const { docker, idOf } = containers;
      const id = await idOf(name);
      const status = await docker('exec', id, 'cat', '/proc/1/status');
      expect(await docker('exec', id, 'id', '-u')).toBe('1000');
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
      expect(status).toMatch(/^CapEff:\s*0+$/m);
      await expect(docker('exec', id, 'touch', '/app/mine')).rejects.toThrow(/Read-only file system/);
    },
  );
});
