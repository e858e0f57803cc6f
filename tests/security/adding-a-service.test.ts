/**
 * The files that list every service: the list in `CONTRIBUTING.md`, "Adding a service", is checked
 * against the table of services (libs/topology).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SERVICE_NAMES, SERVICES, type ServiceName } from '@laurel/topology';
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
type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly uris?: readonly string[];
    readonly bootstrap?: { readonly initdb: { readonly database: string; readonly owner: string } };
    readonly template?: {
      readonly spec: { readonly containers: readonly { env?: readonly { name: string; value?: string }[] }[] };
    };
  };
};
type Kustomization = {
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string }[];
  readonly components?: readonly string[];
  readonly images: readonly { readonly name: string }[];
  readonly patches: readonly { readonly target: { readonly kind: string; readonly name?: string } }[];
};

const KUBERNETES = 'deploy/kubernetes';
const PRODUCTION = `${KUBERNETES}/overlays/production`;
const DEVELOPMENT = `${KUBERNETES}/overlays/development`;
const DATA = `${KUBERNETES}/overlays/example-data`;
const kustomization = (folder: string): Kustomization => parse(read(`${folder}/kustomization.yaml`));

const compose: { services: Record<string, Container>; networks: Record<string, object> } = parse(
  read('docker-compose.yml'),
  { merge: true },
);
const certificates = documents(`${KUBERNETES}/identities/identities.yaml`).flatMap(({ spec }) => spec.uris ?? []);

const addressVariable = (called: ServiceName) => `${called.toUpperCase()}_ADDRESS`;

/** The files of a service's folder in deploy/kubernetes, and the objects in each. */
const MANIFESTS = {
  'deployment.yaml': ['Deployment'],
  'service.yaml': ['Service'],
  'service-account.yaml': ['ServiceAccount'],
  'migration.yaml': ['Job'],
  'scaling.yaml': ['PodDisruptionBudget', 'HorizontalPodAutoscaler'],
  'network-policy.yaml': ['NetworkPolicy', 'NetworkPolicy'],
} as const;

/** Whether each file in deploy/kubernetes has what the service needs, by file. */
function kubernetesNeedsOf(name: ServiceName): Readonly<Record<string, boolean>> {
  const folder = `${KUBERNETES}/services/${name}`;
  if (!existsSync(urlOf(`${folder}/kustomization.yaml`))) return { [folder]: false };
  const { calls } = SERVICES[name];
  const { resources, components, configMapGenerator } = kustomization(folder);
  const [deployment] = documents(`${folder}/deployment.yaml`);
  const variables = deployment?.spec.template?.spec.containers.flatMap(({ env = [] }) => env) ?? [];
  const isListed = (overlay: string) => kustomization(overlay).images.some((it) => it.name === `laurel/${name}`);
  const [cluster] = existsSync(urlOf(`${DATA}/postgres/${name}.yaml`))
    ? documents(`${DATA}/postgres/${name}.yaml`)
    : [];
  return {
    ...Object.fromEntries(
      Object.entries(MANIFESTS).map(([file, kinds]) => [
        `${folder}/${file}`,
        resources.includes(file) &&
          documents(`${folder}/${file}`)
            .map(({ kind }) => kind)
            .join() === kinds.join(),
      ]),
    ),
    [`${folder}/kustomization.yaml: its component`]: components?.join() === '../../components/service',
    [`${folder}/kustomization.yaml: its settings`]: configMapGenerator?.[0]?.name === `${name}-settings`,
    [`${folder}/deployment.yaml: whom it calls`]: SERVICE_NAMES.every((other) => {
      const address = variables.find((it) => it.name === addressVariable(other))?.value;
      return address === (calls.some((called) => called === other) ? `dns:///${other}:9000` : undefined);
    }),
    [`${KUBERNETES}/services/kustomization.yaml`]: kustomization(`${KUBERNETES}/services`).resources.includes(name),
    [`${KUBERNETES}/identities/identities.yaml: its certificate`]: certificates.includes(`spiffe://laurel/${name}`),
    [`${PRODUCTION}/kustomization.yaml: its image`]: isListed(PRODUCTION),
    [`${DEVELOPMENT}/kustomization.yaml: its image`]: isListed(DEVELOPMENT),
    [`${PRODUCTION}/kustomization.yaml: its migrations`]: kustomization(PRODUCTION).patches.some(
      ({ target }) => target.kind === 'Job' && target.name === `${name}-migrate`,
    ),
    [`${DATA}/postgres/${name}.yaml: its database`]:
      kustomization(DATA).resources.includes(`postgres/${name}.yaml`) &&
      cluster?.spec.bootstrap?.initdb.database === name,
  };
}

/** Whether each file has what the service needs, by file. */
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
    ...(serves === 'grpc' ? ['src/callers.ts', 'src/rpcs.ts'] : []),
  ];
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
    ...kubernetesNeedsOf(name),
  };
}

test('the table of services and the folder services/ list the same services', () => {
  expect(readdirSync(urlOf('services')).sort()).toEqual([...SERVICE_NAMES].sort());
});

test.each(SERVICE_NAMES)('the %s service is in every file that a service needs', (name) => {
  const missing = Object.entries(needsOf(name)).flatMap(([file, isThere]) => (isThere ? [] : [file]));
  expect(missing).toEqual([]);
});
