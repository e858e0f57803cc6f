/**
 * The files that list every service: the list of `CONTRIBUTING.md`, "Adding a service", is checked against the table of services
 * (libs/topology).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { NATS_USERS, SERVICE_NAMES, SERVICES, type ServiceName } from '@laurel/topology';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(urlOf(path), 'utf8');
const documents = (path: string): Manifest[] => parseAllDocuments(read(path)).map((document) => document.toJS());

type Container = {
  readonly image?: string;
  readonly build?: { readonly args: { readonly SERVICE: string } };
  readonly volumes?: readonly string[];
  readonly env_file?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[];
};
type Selector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
};
type Peers = readonly { readonly podSelector?: Selector }[];
type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly podSelector?: Selector;
    readonly ingress?: readonly { readonly from?: Peers }[];
    readonly egress?: readonly { readonly to?: Peers }[];
    readonly uris?: readonly string[];
    readonly template?: {
      readonly spec: { readonly containers: readonly { env?: readonly { name: string; value?: string }[] }[] };
    };
  };
};
type Kustomization = {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string }[];
  readonly images: readonly { readonly name: string }[];
  readonly patches: readonly { readonly target: { readonly kind: string; readonly name: string } }[];
};

const BASE = 'deploy/kubernetes/base';
const EXAMPLE = 'deploy/kubernetes/overlays/example';

const compose: { services: Record<string, Container>; networks: Record<string, object> } = parse(
  read('docker-compose.yml'),
  { merge: true },
);
const base: Kustomization = parse(read(`${BASE}/kustomization.yaml`));
const example: Kustomization = parse(read(`${EXAMPLE}/kustomization.yaml`));
const policies = documents(`${BASE}/network-policies.yaml`);
const eventPolicies = documents(`${EXAMPLE}/data-egress.yaml`).filter(({ metadata }) => metadata.name === 'events');
const certificates = documents(`${EXAMPLE}/identities.yaml`).flatMap(({ spec }) => spec.uris ?? []);

const addressVariable = (called: ServiceName) => `${called.toUpperCase()}_ADDRESS`;

function namesOf({ matchLabels = {}, matchExpressions = [] }: Selector = {}): readonly string[] {
  const label = matchLabels['app.kubernetes.io/name'];
  return [...(label === undefined ? [] : [label]), ...matchExpressions.flatMap(({ values }) => values)];
}

/** Whether a policy of the first allows it to reach the second, and a policy of the second admits it. */
function mayCall(caller: ServiceName, called: ServiceName): boolean {
  const isAmong = (peers: Peers = [], name: string) =>
    peers.some(({ podSelector }) => namesOf(podSelector).includes(name));
  const leaves = policies.some(
    ({ spec }) => namesOf(spec.podSelector).includes(caller) && spec.egress?.some(({ to }) => isAmong(to, called)),
  );
  const enters = policies.some(
    ({ spec }) => namesOf(spec.podSelector).includes(called) && spec.ingress?.some(({ from }) => isAmong(from, caller)),
  );
  return leaves && enters;
}

/** What a service needs, by file, and whether it has it. */
function needsOf(name: ServiceName): Readonly<Record<string, boolean>> {
  const { serves, calls, events } = SERVICES[name];
  const callers = SERVICE_NAMES.filter((other) => SERVICES[other].calls.some((called) => called === name));
  const links = [...calls.map((called) => `${name}-${called}`), ...callers.map((caller) => `${caller}-${name}`)];
  const networks = [...links, `${name}-database`, ...(events === null ? [] : [`${name}-events`])];
  const container = compose.services[name];
  const folder = [
    'README.md',
    'grants.sql',
    'schema.sql',
    'migrations',
    'src/config.ts',
    'src/failpoints.ts',
    'src/main.ts',
    'src/migrate.ts',
    'src/server.ts',
  ];
  const deployed = base.resources.includes(`${name}.yaml`) ? documents(`${BASE}/${name}.yaml`) : [];
  const deployment = deployed.find(({ kind }) => kind === 'Deployment');
  const variables = deployment?.spec.template?.spec.containers.flatMap(({ env = [] }) => env) ?? [];
  return {
    ...Object.fromEntries(
      folder.map((file) => [`services/${name}/${file}`, existsSync(urlOf(`services/${name}/${file}`))]),
    ),
    [`proto/laurel/${name}/v1/${name}.proto`]:
      serves === 'http' || existsSync(urlOf(`proto/laurel/${name}/v1/${name}.proto`)),
    'docs/ARCHITECTURE.md: its row': read('docs/ARCHITECTURE.md').includes(`[${name}](../services/${name}/)`),
    'docker-compose.yml: its image': container?.image === `laurel/${name}` && container.build?.args.SERVICE === name,
    'docker-compose.yml: its identity':
      container?.volumes?.includes(`./deploy/docker/identities/${name}:/run/identity:ro`) ?? false,
    'docker-compose.yml: its user of NATS': (container?.env_file !== undefined) === (events !== null),
    'docker-compose.yml: whom it calls': SERVICE_NAMES.every(
      (other) => addressVariable(other) in (container?.environment ?? {}) === calls.some((called) => called === other),
    ),
    'docker-compose.yml: its networks': networks.every(
      (network) => network in compose.networks && container?.networks?.includes(network),
    ),
    'docker-compose.yml: its migrations': compose.services[`${name}-migrate`]?.image === `laurel/${name}`,
    [`${BASE}/kustomization.yaml: its resource`]: deployment !== undefined,
    [`${BASE}/kustomization.yaml: its settings`]: base.configMapGenerator.some((it) => it.name === `${name}-settings`),
    [`${BASE}/${name}.yaml: whom it calls`]: calls.every((called) =>
      variables.some((it) => it.name === addressVariable(called) && it.value === `dns:///${called}:9000`),
    ),
    [`${BASE}/network-policies.yaml: whom it calls`]: SERVICE_NAMES.every(
      (other) => mayCall(name, other) === calls.some((called) => called === other),
    ),
    [`${EXAMPLE}/data-egress.yaml: the way to NATS`]:
      eventPolicies.some(({ spec }) => namesOf(spec.podSelector).includes(name)) === (events !== null),
    [`${EXAMPLE}/identities.yaml: its certificate`]: certificates.includes(`spiffe://laurel/${name}`),
    [`${EXAMPLE}/kustomization.yaml: its image`]: example.images.some((it) => it.name === `laurel/${name}`),
    [`${EXAMPLE}/kustomization.yaml: its migrations`]: example.patches.some(
      ({ target }) => target.kind === 'Job' && target.name === `${name}-migrate`,
    ),
  };
}

test('the table of services and the folder services/ list the same services', () => {
  expect(readdirSync(urlOf('services')).sort()).toEqual([...SERVICE_NAMES].sort());
});

test.each(SERVICE_NAMES)('the %s service is in every file that a service needs', (name) => {
  const missing = Object.entries(needsOf(name)).flatMap(([file, isThere]) => (isThere ? [] : [file]));
  expect(missing).toEqual([]);
});

test('Kubernetes allows only the services with a NATS user to reach NATS', () => {
  expect(eventPolicies.flatMap(({ spec }) => namesOf(spec.podSelector)).sort()).toEqual([...NATS_USERS].sort());
});
