import { expect, test } from 'vitest';
import { issuesOfTypes } from './api-types.ts';
import { type Manifest, parseManifests } from './manifest.ts';
import { issuesOfPods } from './pod-rules.ts';

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: wallet }
spec:
  replicas: 2
  selector: { matchLabels: { app: wallet } }
  template:
    metadata: { labels: { app: wallet } }
    spec:
      automountServiceAccountToken: false
      securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
      containers:
        - name: service
          image: laurel/wallet
          startupProbe: { httpGet: { path: /healthz, port: admin } }
          readinessProbe: { httpGet: { path: /readyz, port: admin } }
          livenessProbe: { httpGet: { path: /healthz, port: admin } }
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
          resources: { requests: { cpu: 250m, memory: 192Mi }, limits: { memory: 512Mi } }
`;

const CLUSTER = `
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: { name: wallet-database }
spec:
  instances: 3
  storage: { size: 50Gi }
  postgresql: { synchronous: { method: any, number: 1, dataDurability: required } }
`;

const CERTIFICATE = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: wallet-identity }
spec: { secretName: wallet-identity, uris: [spiffe://laurel/wallet], issuerRef: { name: laurel-authority } }
`;

const POD_MONITOR = `
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: { name: laurel }
spec: { selector: {}, podMetricsEndpoints: [{ port: admin, interval: 15s, honorLabels: true }] }
`;

/** The single manifest of a text in which `from` is replaced. */
function changed(text: string, from: string, to: string): Manifest {
  expect(text.split(from)).toHaveLength(2);
  const [manifest] = parseManifests(text.replace(from, to));
  if (manifest === undefined) throw new Error('the text has no manifest');
  return manifest;
}

test('manifests whose fields are known and have the right types have no issue', async () => {
  const manifests = parseManifests([DEPLOYMENT, CLUSTER, CERTIFICATE, POD_MONITOR].join('---'));
  expect(await issuesOfTypes(manifests)).toEqual([]);
  expect(manifests.flatMap(issuesOfPods)).toEqual([]);
});

test.each([
  ['an unknown field', DEPLOYMENT, 'replicas: 2', 'replica: 2', /'replica' does not exist in type/],
  [
    'an unknown field of a container',
    DEPLOYMENT,
    'readinessProbe',
    'readynessProbe',
    /'readynessProbe' does not exist in type/,
  ],
  [
    'an unknown field of an API version',
    DEPLOYMENT,
    'image: laurel',
    'serviceName: x\n          image: laurel',
    /'serviceName' does not exist/,
  ],
  ['a wrong type', DEPLOYMENT, 'replicas: 2', "replicas: '2'", /Type 'string' is not assignable to type 'number'/],
  [
    'a missing required field',
    DEPLOYMENT,
    'selector: { matchLabels: { app: wallet } }',
    '',
    /Property 'selector' is missing/,
  ],
  ['an unknown quantity', DEPLOYMENT, '250m', '250x', /requests\/cpu must match format "quantity"/],
  [
    'an unknown value of an enumeration',
    DEPLOYMENT,
    'RuntimeDefault',
    'Default',
    /seccompProfile\/type must be equal to one of/,
  ],
  [
    'an unknown field of a custom resource',
    CLUSTER,
    'dataDurability',
    'durability',
    /'durability' does not exist in type/,
  ],
  [
    'a wrong type in a custom resource',
    CLUSTER,
    'instances: 3',
    'instances: three',
    /Type 'string' is not assignable to type 'number'/,
  ],
  ['an unknown field of a certificate', CERTIFICATE, 'uris', 'urls', /'urls' does not exist in type/],
  [
    'an unknown field of a monitor',
    POD_MONITOR,
    'honorLabels',
    'honourLabels',
    /'honourLabels' does not exist in type/,
  ],
  ['a kind that the API does not have', DEPLOYMENT, 'kind: Deployment', 'kind: Deploymend', /no exported member/],
  ['a version that the API has removed', DEPLOYMENT, 'apps/v1', 'extensions/v1beta1', /is not a stable version/],
  ['a version that the API does not have', DEPLOYMENT, 'apps/v1', 'apps/v3', /Cannot find module/],
])('%s is an issue', async (_what, text, from, to, issue) => {
  const manifest = changed(text, from, to);
  const issues = await issuesOfTypes([manifest]);
  expect(issues.join('\n')).toMatch(issue);
  expect(issues[0]).toMatch(new RegExp(`^${manifest.kind} ${manifest.metadata.name}: `));
});

test.each([
  ['automountServiceAccountToken: false', 'automountServiceAccountToken: true', 'its pods have a token of the API'],
  ['runAsNonRoot: true, ', '', 'its pods may run as root'],
  ['type: RuntimeDefault', 'type: Unconfined', 'its pods may make every system call'],
  ['allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true', 'service may gain privileges'],
  ['readOnlyRootFilesystem: true, ', '', 'service may change its own files'],
  ['drop: [ALL]', 'drop: [NET_RAW]', 'service has capabilities'],
  ['drop: [ALL]', 'drop: [ALL], add: [SYS_ADMIN]', 'service adds capabilities'],
  ['cpu: 250m, ', '', 'service requests no CPU'],
  ['memory: 192Mi', '', 'service requests no memory'],
  ['limits: { memory: 512Mi }', 'limits: {}', 'service has no limit of memory'],
  ['livenessProbe', 'postStartProbe', 'service lacks a probe'],
])('a pod whose "%s" is "%s" is an issue', (from, to, issue) => {
  expect(issuesOfPods(changed(DEPLOYMENT, from, to))).toEqual([`Deployment wallet: ${issue}`]);
});

test('a text that is not a Kubernetes object is refused', () => {
  expect(() => parseManifests('apiVersion: v1\nkind: Secret\n')).toThrow('not a Kubernetes object');
  expect(() => parseManifests('a: [1')).toThrow();
});
