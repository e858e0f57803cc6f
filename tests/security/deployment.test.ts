import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICES, type Service } from '@laurel/testing';
import { SERVICES as TOPOLOGY } from '@laurel/topology';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

/**
 * The secrets that compose and Kubernetes give to each service: a compromised service exposes only
 * the running role of its own database. And the networks of compose.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const DATABASE_SETTING = /DATABASE_URL|POSTGRES|PASSWORD/;

function databaseSettings(environment: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name, value]) => DATABASE_SETTING.test(name + value)));
}

describe('secrets in docker-compose.yml', () => {
  type Container = { readonly environment?: Record<string, string>; readonly depends_on?: Record<string, object> };
  const containers: Record<string, Container> = parse(read('docker-compose.yml'), { merge: true }).services;
  const urlOf = (service: Service, role: string, secret: string) =>
    `postgresql://${role}:\${${secret}:?set ${secret}}@postgres:5432/${service}`;

  test.each(SERVICES)('docker-compose.yml gives %s the URL of its running role', (service) => {
    const name = `${service.toUpperCase()}_DATABASE`;
    const owner = `${service.toUpperCase()}_MIGRATION_DATABASE`;
    const runningUrl = urlOf(service, `laurel_${service}`, `${name}_PASSWORD`);
    const ownerUrl = urlOf(service, `laurel_${service}_owner`, `${owner}_PASSWORD`);
    expect(databaseSettings(containers[service]?.environment)).toEqual({ [`${name}_URL`]: runningUrl });
    expect(databaseSettings(containers[`${service}-migrate`]?.environment)).toEqual({
      [`${name}_URL`]: `postgresql://laurel_${service}@postgres:5432/${service}`,
      [`${owner}_URL`]: ownerUrl,
    });
    expect(containers.databases?.environment).toMatchObject({
      [`${name}_URL`]: runningUrl,
      [`${owner}_URL`]: ownerUrl,
    });
    expect(containers[`${service}-migrate`]?.depends_on).toHaveProperty('databases');
  });

  test('docker-compose.yml gives the superuser’s password only to the server and the setup of its databases', () => {
    const knowing = Object.entries(containers).filter(([, it]) => JSON.stringify(it).includes('{POSTGRES_PASSWORD'));
    expect(knowing.map(([name]) => name)).toEqual(['postgres', 'databases']);
  });
});

describe('networks in docker-compose.yml', () => {
  type Compose = {
    readonly services: Readonly<Record<string, { readonly networks: readonly string[] }>>;
    readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  };
  const { services, networks }: Compose = parse(read('docker-compose.yml'), { merge: true });
  const membersOf = (network: string) => SERVICES.filter((name) => services[name]?.networks.includes(network));
  const calls = (name: Service): readonly string[] => TOPOLOGY[name].calls;

  test('two services share a network of docker-compose.yml only if one calls the other', () => {
    const shared = Object.keys(networks)
      .map(membersOf)
      .filter((members) => members.length > 1);
    const pairs = SERVICES.flatMap((name) => calls(name).map((called) => [name, called].toSorted().join()));
    expect(shared.map((members) => members.toSorted().join()).toSorted()).toEqual(pairs.toSorted());
  });

  test('each network of docker-compose.yml with a route outside contains only one service', () => {
    const open = Object.keys(networks).filter((network) => networks[network]?.internal !== true);
    const members = open.map((network) =>
      Object.keys(services).filter((name) => services[name]?.networks.includes(network)),
    );
    expect(members).toEqual([['gateway'], ['webhook'], ['integration']]);
  });
});

describe('docker-compose.one-process.yml beside docker-compose.yml', () => {
  type Container = Readonly<Record<string, unknown>> & {
    readonly environment?: Readonly<Record<string, string>>;
    readonly networks?: readonly string[];
    readonly volumes?: readonly string[];
  };
  type Compose = {
    readonly services: Readonly<Record<string, Container>>;
    readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const composeOf = (file: string): Compose => parse(read(file), { merge: true });
  const [six, one] = [composeOf('docker-compose.yml'), composeOf('docker-compose.one-process.yml')];
  const containerOf = (file: Compose, name: string): Container =>
    file.services[name] ?? expect.fail(`there is no ${name}`);
  const ofAll = containerOf(one, 'one-process');

  test('docker-compose.one-process.yml gives its process the settings of each service', () => {
    const settings = SERVICES.map((service) => containerOf(six, service).environment ?? {});
    const addresses = Object.keys(Object.assign({}, ...settings)).filter((name) => /^[A-Z]+_ADDRESS$/.test(name));
    expect(addresses).toHaveLength(5);
    const expected = Object.fromEntries(
      Object.entries<string>(Object.assign({}, ...settings)).filter(([name]) => !addresses.includes(name)),
    );
    expect(ofAll.environment).toEqual(expected);
    // A variable that two services read has the same value for both.
    for (const own of settings) {
      const shared = Object.entries(own).filter(([name]) => !addresses.includes(name));
      expect(ofAll.environment).toMatchObject(Object.fromEntries(shared));
    }
  });

  test('docker-compose.one-process.yml hardens its containers as docker-compose.yml does', () => {
    const hardening = ['pull_policy', 'init', 'stop_grace_period', 'read_only', 'tmpfs', 'cap_drop', 'security_opt'];
    const hardened = (container: Container) => hardening.map((name) => container[name]);
    const wallet = hardened(containerOf(six, 'wallet'));
    expect(wallet).not.toContain(undefined);
    for (const [name, container] of Object.entries(one.services)) {
      if (name === 'postgres' || name === 'nats') {
        expect(container).toEqual({ extends: { file: 'docker-compose.yml', service: name } });
      } else {
        expect([name, hardened(container), container.image]).toEqual([name, wallet, 'laurel/all']);
      }
    }
    expect(one.volumes).toEqual(six.volumes);
  });

  test('docker-compose.one-process.yml migrates each database with the URLs of docker-compose.yml', () => {
    expect(containerOf(one, 'databases').environment).toEqual({
      ...containerOf(six, 'databases').environment,
      POSTGRES_ADMIN_URL: `postgresql://postgres:\${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}@postgres:5432/postgres`,
    });
    for (const service of SERVICES) {
      const { environment, networks, command } = containerOf(one, `${service}-migrate`);
      const alone = containerOf(six, `${service}-migrate`);
      expect({ environment, networks }).toEqual({ environment: alone.environment, networks: alone.networks });
      expect(command).toEqual(['node', `/app/services/${service}/src/migrate.ts`]);
      expect(ofAll.depends_on).toHaveProperty(`${service}-migrate`);
    }
    const knowing = Object.entries(one.services).filter(([, it]) => JSON.stringify(it).includes('{POSTGRES_PASSWORD'));
    expect(knowing.map(([name]) => name)).toEqual(['databases']);
  });

  test('docker-compose.one-process.yml gives only its process a route outside', () => {
    const open = Object.entries(one.networks).filter(([, network]) => network?.internal !== true);
    expect(open.map(([name]) => name)).toEqual(['outside']);
    const members = Object.entries(one.services).filter(([, it]) => it.networks?.includes('outside'));
    expect(members.map(([name]) => name)).toEqual(['one-process']);
    expect(ofAll.volumes).toEqual(['./deploy/docker/identities/one-process:/run/identity:ro']);
    for (const service of SERVICES) expect(ofAll.networks).toContain(`${service}-database`);
  });
});

describe('secrets in deploy/kubernetes', () => {
  type Variable = {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef?: { name: string; key: string } };
  };
  type Manifest = {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { env?: Variable[] }[] } } };
  };

  function manifests(path: string): Manifest[] {
    return parseAllDocuments(read(path)).map((document) => document.toJS());
  }

  /** Returns each secret as `name: secret/key`. */
  function secretsOf({ spec }: Manifest): string[] {
    return spec.template.spec.containers
      .flatMap(({ env = [] }) => env)
      .filter(({ name }) => DATABASE_SETTING.test(name))
      .map(({ name, valueFrom }) => `${name}: ${valueFrom?.secretKeyRef?.name}/${valueFrom?.secretKeyRef?.key}`);
  }

  test.each(SERVICES)('Kubernetes gives only the migrations of the %s service the URL of the owner', (service) => {
    const folder = `deploy/kubernetes/services/${service}`;
    const [name, owner] = [`${service.toUpperCase()}_DATABASE_URL`, `${service.toUpperCase()}_MIGRATION_DATABASE_URL`];
    const runs = manifests(`${folder}/deployment.yaml`);
    const migrates = manifests(`${folder}/migration.yaml`);
    expect([...runs, ...migrates].map(({ kind }) => kind)).toEqual(['Deployment', 'Job']);
    expect(runs.map(secretsOf)).toEqual([[`${name}: ${service}-secrets/${name}`]]);
    expect(migrates.map(secretsOf)).toEqual([
      [`${name}: ${service}-secrets/${name}`, `${owner}: ${service}-migration-secrets/${owner}`],
    ]);
  });

  test('Kubernetes gives the superuser’s URL only to the setup of the databases', () => {
    const setup = 'deploy/kubernetes/databases/prepare-databases.yaml';
    const files = globSync('deploy/kubernetes/**/*.yaml', { cwd: ROOT, exclude: ['**/node_modules'] });
    expect(files.filter((file) => /key: POSTGRES_ADMIN_URL/.test(read(file)))).toEqual([setup]);
    // Only the server's superuser gets the password. No pod of a service does.
    expect(files.filter((file) => /key: POSTGRES_PASSWORD/.test(read(file)))).toEqual([
      'deploy/kubernetes/overlays/development/postgres.yaml',
    ]);
    const [job] = manifests(setup);
    if (job === undefined) throw new Error('there is no Job');
    expect(secretsOf(job)).toHaveLength(1 + 2 * SERVICES.length);
    expect(read('deploy/kubernetes/databases/kustomization.yaml')).toContain('  - prepare-databases.yaml');
    expect(read('deploy/kubernetes/overlays/development/kustomization.yaml')).toContain('  - ../../databases');
  });
});
