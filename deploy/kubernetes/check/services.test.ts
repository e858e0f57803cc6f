/**
 * What the manifests of the services, their data and the autoscalers' metric must agree on across
 * several files.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { metrics, publishOldestWaits } from '@laurel/telemetry';
import { SERVICE_NAMES } from '@laurel/topology';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Manifest, parseManifests } from './manifest.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** The spec of the object of this kind in a file. The caller states the type of its fields. */
function specOf<Spec>(path: string, kind: string): Spec {
  const found = parseManifests(read(path)).find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`${path} has no ${kind}`);
  return found.spec as Spec;
}

type Autoscaler = {
  readonly scaleTargetRef: object;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly {
    readonly type: string;
    readonly resource?: { name: string };
    readonly pods?: { metric: { name: string } };
  }[];
};
type Workload = {
  readonly replicas?: number;
  readonly template: { readonly spec: { readonly serviceAccountName: string } };
};
type Containers = {
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly image?: string; readonly command?: readonly string[] }[];
    };
  };
};
type Policy = { readonly egress: readonly { readonly to: readonly object[] }[] };
type Patch = { readonly target: { readonly name?: string } };
type Cluster = {
  readonly instances: number;
  readonly postgresql: { readonly synchronous: object; readonly parameters: Record<string, string> };
};

/** What runs as a Deployment, and its folder: each service, and all of them in one process. */
const WORKLOADS = [
  ...SERVICE_NAMES.map((name) => ({ name, folder: `services/${name}` })),
  { name: 'one-process', folder: 'one-process' },
];

const autoscalerIn = (folder: string) => specOf<Autoscaler>(`${folder}/scaling.yaml`, 'HorizontalPodAutoscaler');
const metricsOf = ({ metrics: all }: Autoscaler) =>
  all.map(({ resource, pods }) => resource?.name ?? pods?.metric.name);

/** The name under which the services publish the metric. */
async function publishedMetric(): Promise<string | undefined> {
  publishOldestWaits();
  return (await metrics.getMetricsAsJSON()).find(({ name }) => name.includes('oldest_waiting'))?.name;
}

describe.each(WORKLOADS)('the Deployment of $name', ({ name, folder }) => {
  test('a Deployment is scaled on CPU and on the oldest waiting call', async () => {
    const autoscaler = autoscalerIn(folder);
    expect(metricsOf(autoscaler)).toEqual(['cpu', await publishedMetric()]);
    expect(autoscaler.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name });
    expect(autoscaler.minReplicas).toBeGreaterThanOrEqual(2);
    expect(specOf<Workload>(`${folder}/deployment.yaml`, 'Deployment').replicas).toBeUndefined();
  });

  test('a Deployment loses at most one replica at a time when nodes are drained', () => {
    expect(specOf(`${folder}/scaling.yaml`, 'PodDisruptionBudget')).toMatchObject({
      maxUnavailable: 1,
      selector: { matchLabels: { 'app.kubernetes.io/name': name } },
    });
  });

  test('a Deployment runs as an account without a token', () => {
    const [account] = parseManifests(read(`${folder}/service-account.yaml`)) as [Manifest];
    expect([account.metadata.name, account.automountServiceAccountToken]).toEqual([name, false]);
    const { template } = specOf<Workload>(`${folder}/deployment.yaml`, 'Deployment');
    expect(template.spec.serviceAccountName).toBe(name);
  });
});

test.each(SERVICE_NAMES)('the %s service migrates under its own account', (name) => {
  const { template } = specOf<Workload & Containers>(`services/${name}/migration.yaml`, 'Job');
  expect(template.spec.serviceAccountName).toBe(name);
  const [container] = template.spec.containers;
  expect(container?.command).toEqual(['node', `/app/services/${name}/src/migrate.ts`]);
});

type OneProcess = {
  readonly template: {
    readonly spec: {
      readonly enableServiceLinks?: boolean;
      readonly containers: readonly {
        readonly envFrom: readonly object[];
        readonly env?: readonly object[];
      }[];
      readonly volumes: readonly { readonly secret: { readonly items?: readonly { readonly key: string }[] } }[];
    };
  };
};

test('the process of all services reads each service’s settings and Secret under its prefix', () => {
  const { spec } = specOf<OneProcess>('one-process/deployment.yaml', 'Deployment').template;
  const ofServices = SERVICE_NAMES.flatMap((name) => [
    { prefix: `${name.toUpperCase()}_`, configMapRef: { name: `${name}-settings` } },
    { prefix: `${name.toUpperCase()}_`, secretRef: { name: `${name}-secrets` } },
  ]);
  const own = { configMapRef: { name: 'one-process-settings' } };
  expect(spec.containers.map(({ envFrom, env }) => ({ envFrom, env }))).toEqual([{ envFrom: [own, ...ofServices] }]);
  // Kubernetes would add variables with a service's name in front.
  expect(spec.enableServiceLinks).toBe(false);
  expect(spec.volumes.map(({ secret }) => secret.items?.map(({ key }) => key))).toEqual([['ca.crt']]);
});

test('the overlay of one process uses one image for the process and all migrations', () => {
  const { images, patches } = parse(read('overlays/single/kustomization.yaml'));
  const names = ['laurel/all', ...SERVICE_NAMES.map((name) => `laurel/${name}`)];
  expect(images.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(new Set(images.map(({ newName, newTag }: Record<string, string>) => `${newName}:${newTag}`)).size).toBe(1);
  const deleted = patches.filter(({ patch }: { patch: string }) => patch.startsWith('$patch: delete'));
  // The objects of a service's Deployment, but not those of its migrations.
  expect(deleted.map(({ target }: { target: object }) => target)).toEqual(
    ['Deployment', 'Service', 'PodDisruptionBudget', 'HorizontalPodAutoscaler', 'NetworkPolicy'].map((kind) => ({
      kind,
      name: `(${SERVICE_NAMES.join('|')})`,
    })),
  );
  const jobs = patches.filter(({ target }: { target: { kind: string } }) => target.kind === 'Job');
  expect(jobs.map(({ target }: Patch) => target.name)).toEqual(SERVICE_NAMES.map((name) => `${name}-migrate`));
});

test('the gateway starts with either OPERATOR_TOKEN or OPERATOR_TOKENS', () => {
  type Variable = {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly optional?: boolean } };
  };
  type Pod = {
    readonly template: { readonly spec: { readonly containers: readonly { readonly env: readonly Variable[] }[] } };
  };
  const { spec } = specOf<Pod>('services/gateway/deployment.yaml', 'Deployment').template;
  const required = spec.containers
    .flatMap(({ env }) => env)
    .filter(({ valueFrom }) => valueFrom !== undefined && valueFrom.secretKeyRef.optional !== true);
  expect(required.map(({ name }) => name)).toEqual(['GATEWAY_DATABASE_URL', 'KEY_PEPPER']);
});

const cluster = specOf<Cluster>('overlays/example-data/postgres/cluster.yaml', 'Cluster');

test('the clusters acknowledge a commit after one of two standbys has received it', () => {
  expect(cluster.instances).toBe(3);
  expect(cluster.postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required' });
});

test('a cluster has enough connections for every replica during a rolling update', () => {
  // The default of <SERVICE>_DATABASE_POOL.
  const pool = 8;
  for (const { folder } of WORKLOADS) {
    const needed = (autoscalerIn(folder).maxReplicas + 1) * pool + 20;
    expect(Number(cluster.postgresql.parameters.max_connections)).toBeGreaterThanOrEqual(needed);
  }
});

test('each NATS server of an overlay holds a replica of the event stream', () => {
  const replicas = (overlay: string) => specOf<Workload>(`overlays/${overlay}/nats.yaml`, 'StatefulSet').replicas;
  const settings = (path: string) => read(path).match(/EVENTS_REPLICAS=(\d+)/)?.[1];
  expect([replicas('example-data'), settings('services/webhook/kustomization.yaml')]).toEqual([3, '3']);
  expect([replicas('development'), settings('overlays/development/kustomization.yaml')]).toEqual([1, '1']);
});

test('the adapter serves the metric of the services as the longest wait of each pod', async () => {
  const [configMap] = parseManifests(read('monitoring/prometheus-adapter.yaml')) as [Manifest];
  const { rules } = parse((configMap.data as Record<string, string>)['config.yaml'] ?? '');
  const name = await publishedMetric();
  expect(rules).toEqual([
    {
      seriesQuery: `${name}{namespace!="",pod!=""}`,
      resources: { overrides: { namespace: { resource: 'namespace' }, pod: { resource: 'pod' } } },
      name: { matches: `^${name}$`, as: name },
      metricsQuery: 'max by (<<.GroupBy>>) (avg_over_time(<<.Series>>{<<.LabelMatchers>>}[1m]))',
    },
  ]);
});

test.each(['example-data', 'development'])(
  'the sidecar in %s watches every file of a NATS server that can change',
  (overlay) => {
    expect(parse(read(`overlays/${overlay}/kustomization.yaml`)).components).toContain('../../components/nats-reload');
    const named = [...read(`overlays/${overlay}/nats.conf`).matchAll(/(?:_file:|include) "([^"]+)"/g)].map(
      ([, path = '']) => posix.resolve('/etc/nats', path),
    );
    expect(named.length).toBeGreaterThanOrEqual(3);
    const containers = (path: string) => specOf<Containers>(path, 'StatefulSet').template.spec.containers;
    const [server] = containers(`overlays/${overlay}/nats.yaml`);
    const [, reload] = containers('components/nats-reload/sidecar.yaml');
    expect(reload?.command).toEqual(expect.arrayContaining(named));
    expect(reload?.image).toBe(server?.image);
  },
);

test.each(['production', 'single'])(
  "the overlay %s replaces the example's documentation address by the addresses of the Kubernetes API",
  (overlay) => {
    const policy = specOf<Policy>('overlays/example-data/postgres/operator.yaml', 'NetworkPolicy');
    expect(policy.egress[0]?.to).toEqual([{ ipBlock: { cidr: '192.0.2.1/32' } }]);
    const { patches } = parse(read(`overlays/${overlay}/kustomization.yaml`));
    const [patch] = patches.filter(({ target }: Patch) => target.name === 'database-operator');
    const blocks = ['192.0.2.1/32', '2001:db8::1/128'].map((cidr) => ({ ipBlock: { cidr } }));
    expect(parse(patch.patch)).toEqual([{ op: 'replace', path: '/spec/egress/0/to', value: blocks }]);
  },
);
