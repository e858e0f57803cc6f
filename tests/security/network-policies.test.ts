/**
 * Who reaches whom in Kubernetes, by all NetworkPolicies of a deployment together, compared with
 * the table of services (libs/topology); and which outside addresses, compared with the services'
 * own check (libs/untrusted-url).
 */
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { NATS_USERS, SERVICE_NAMES, SERVICES, type ServiceName } from '@laurel/topology';
import { isPublicAddress } from '@laurel/untrusted-url';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

type Selector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
  }[];
};
type Peer = {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
};
type Port = { readonly protocol: string; readonly port: number; readonly endPort?: number };
type Rule = { readonly from?: readonly Peer[]; readonly to?: readonly Peer[]; readonly ports?: readonly Port[] };
type Policy = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
};
/** A peer without a namespace is not a pod. */
type Pod = {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
};

const OUTSIDE = ['webhook', 'integration'] as const;

const FOLDER = new URL('../../deploy/kubernetes/', import.meta.url);
const policiesOf = (path: string): Policy[] =>
  parseAllDocuments(readFileSync(new URL(path, FOLDER), 'utf8'))
    .map((document) => document.toJS() as Policy)
    .filter(({ kind }) => kind === 'NetworkPolicy');

const ofService = (name: ServiceName) => policiesOf(`services/${name}/network-policy.yaml`);
/** All services in one process, which may run beside services in processes of their own. */
const ALL = 'one-process';
const ofAll = policiesOf(`${ALL}/network-policy.yaml`);
const POLICIES = [
  ...policiesOf('namespace/default-deny.yaml'),
  ...SERVICE_NAMES.flatMap(ofService),
  ...ofAll,
  ...SERVICE_NAMES.flatMap((name) => policiesOf(`overlays/example-data/postgres/${name}.yaml`)),
  ...policiesOf('overlays/example-data/postgres/operator.yaml'),
  ...policiesOf('overlays/example-data/network-policy.yaml'),
  ...policiesOf('overlays/single/network-policy.yaml'),
];

const named = (name: string): Pod => ({
  name,
  namespace: 'laurel',
  labels: { 'app.kubernetes.io/name': name },
  address: '10.244.1.7',
});
const atAddress = (address: string): Pod => ({ name: address, namespace: undefined, labels: {}, address });
const SERVICE_PODS = SERVICE_NAMES.map(named);
const MIGRATIONS = SERVICE_NAMES.map((name) => named(`${name}-migrate`));
const DATABASES = SERVICE_NAMES.map((name) => ({
  ...named(`${name}-database`),
  labels: { 'cnpg.io/cluster': `${name}-database` },
}));
const NATS = named('nats');
/** Stands for the address of a cluster's API server; the example overlay has the same one. */
const API = atAddress('192.0.2.1');
const PUBLIC = ['93.184.216.34', '2606:2800:220:1::1'].map(atAddress);
const PODS: readonly Pod[] = [
  ...SERVICE_PODS,
  named(ALL),
  ...MIGRATIONS,
  ...DATABASES,
  NATS,
  named('intruder'),
  { ...named('intruder outside'), namespace: 'default' },
  { ...named('prometheus'), namespace: 'monitoring' },
  { ...named('operator'), namespace: 'cnpg-system' },
  { ...named('dns'), namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
  API,
  ...PUBLIC,
];
const PORTS = [53, 443, 4222, 5432, 6222, 6443, 8000, 8080, 8222, 9000, 9100, 9187];

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Pod['labels']): boolean {
  const isEqual = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    isEqual &&
    matchExpressions.every(({ key, operator, values }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator !== 'In' || values === undefined) throw new Error(`the operator ${operator} is not known here`);
      return value !== undefined && values.includes(value);
    })
  );
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, pod: Pod): boolean {
  if (ipBlock !== undefined) return isIn(ipBlock, pod.address);
  if (pod.namespace === undefined) return false;
  const namespace = { 'kubernetes.io/metadata.name': pod.namespace };
  const isNamespace =
    namespaceSelector === undefined ? pod.namespace === 'laurel' : matches(namespaceSelector, namespace);
  return isNamespace && (podSelector === undefined || matches(podSelector, pod.labels));
}

function allows(direction: 'Ingress' | 'Egress', pod: Pod, other: Pod, port: number): boolean {
  const selecting = POLICIES.filter(
    ({ spec }) =>
      pod.namespace === 'laurel' && spec.policyTypes.includes(direction) && matches(spec.podSelector, pod.labels),
  );
  if (selecting.length === 0) return true;
  const rules = selecting.flatMap(({ spec }) => (direction === 'Ingress' ? spec.ingress : spec.egress) ?? []);
  return rules.some(({ from, to, ports }) => {
    const peers = direction === 'Ingress' ? from : to;
    const isPort = ports === undefined || ports.some((it) => port >= it.port && port <= (it.endPort ?? it.port));
    return isPort && (peers === undefined || peers.some((peer) => isPeer(peer, other)));
  });
}

test('the policies allow exactly the connections between services, databases, NATS and the outside', () => {
  const inside = PODS.filter(({ namespace }) => namespace === 'laurel');
  const actual = PODS.flatMap((from) =>
    PODS.filter((to) => inside.includes(from) || inside.includes(to)).flatMap((to) =>
      PORTS.filter((port) => allows('Egress', from, to, port) && allows('Ingress', to, from, port)).map(
        (port) => `${from.name} -> ${to.name}:${port}`,
      ),
    ),
  );
  const expected = [
    ...SERVICE_NAMES.flatMap((name) => SERVICES[name].calls.map((called) => `${name} -> ${called}:9000`)),
    ...SERVICE_NAMES.flatMap((name) => [
      `${name} -> ${name}-database:5432`,
      `${name}-migrate -> ${name}-database:5432`,
      `prometheus -> ${name}:9100`,
      `${name}-database -> ${name}-database:5432`,
      `${name}-database -> ${name}-database:8000`,
      `operator -> ${name}-database:5432`,
      `operator -> ${name}-database:8000`,
      `prometheus -> ${name}-database:9187`,
    ]),
    ...NATS_USERS.map((name) => `${name} -> nats:4222`),
    'nats -> nats:6222',
    'prometheus -> nats:8222',
    ...DATABASES.map(({ name }) => `${ALL} -> ${name}:5432`),
    `${ALL} -> nats:4222`,
    `prometheus -> ${ALL}:9100`,
    ...[...SERVICE_PODS, named(ALL), ...MIGRATIONS, ...DATABASES, NATS].map(({ name }) => `${name} -> dns:53`),
    ...DATABASES.flatMap(({ name }) => [`${name} -> ${API.name}:443`, `${name} -> ${API.name}:6443`]),
    ...[...OUTSIDE, ALL].flatMap((name) =>
      PUBLIC.flatMap((to) =>
        PORTS.filter((port) => port === 443 || port >= 1024).map((port) => `${name} -> ${to.name}:${port}`),
      ),
    ),
    ...['intruder outside', 'prometheus', 'operator', 'dns', API.name, ...PUBLIC.map(({ name }) => name)].flatMap(
      (name) => [`${name} -> gateway:8080`, `${name} -> ${ALL}:8080`],
    ),
  ];
  expect(actual.toSorted()).toEqual(expected.toSorted());
});

test('the policies of each service restrict connections to and from all of its pods', () => {
  for (const name of SERVICE_NAMES) {
    const policies = ofService(name).map(({ spec }) => [spec.podSelector.matchLabels, spec.policyTypes]);
    expect(policies).toEqual(
      [name, `${name}-migrate`].map((pod) => [{ 'app.kubernetes.io/name': pod }, ['Ingress', 'Egress']]),
    );
  }
});

/** The rules by which pods reach addresses instead of pods. */
function rulesOutside(policies: readonly Policy[]): readonly Rule[] {
  const rules = policies.flatMap(({ spec }) => spec.egress ?? []);
  return rules.filter(({ to = [] }) => to.some(({ ipBlock }) => ipBlock !== undefined));
}

test('only the webhook and the integration service, and one process of all, connect to the outside', () => {
  expect(SERVICE_NAMES.filter((name) => rulesOutside(ofService(name)).length > 0)).toEqual(OUTSIDE);
  for (const policies of [...OUTSIDE.map(ofService), ofAll]) {
    expect(rulesOutside(policies).map(({ ports }) => ports)).toEqual([
      [
        { protocol: 'TCP', port: 443 },
        { protocol: 'TCP', port: 1024, endPort: 65535 },
      ],
    ]);
  }
});

type Family = 'ipv4' | 'ipv6';
type Block = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number];
const familyOf = (address: string): Family => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

function listOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/');
    list.addSubnet(network, Number(bits), familyOf(network));
  }
  return list;
}

function isIn({ cidr, except = [] }: NonNullable<Peer['ipBlock']>, address: string): boolean {
  const family = familyOf(address);
  return listOf([cidr]).check(address, family) && !listOf(except).check(address, family);
}

/** The first and last address of a block, and their neighbours. */
function edgesOf([network, bits]: Block): readonly string[] {
  const bytes = network.toByteArray();
  const size = bytes.length * 8;
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const first = (value >> BigInt(size - bits)) << BigInt(size - bits);
  const last = first + (1n << BigInt(size - bits)) - 1n;
  return [first - 1n, first, last, last + 1n]
    .filter((it) => it >= 0n && it < 1n << BigInt(size))
    .map((it) => textOf(it, size));
}

function textOf(value: bigint, size: number): string {
  const bytes = Array.from({ length: size / 8 }, (_none, index) =>
    Number((value >> BigInt(size - 8 * (index + 1))) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

/**
 * Every address block that is special in the library with which the services check addresses. A
 * name may stand for several blocks.
 */
function specialBlocks(): readonly Block[] {
  const known = [ipaddr.IPv4, ipaddr.IPv6].map(
    ({ prototype }) => (prototype as unknown as { SpecialRanges: Record<string, Block | Block[]> }).SpecialRanges,
  );
  return known
    .flatMap((ranges) => Object.values(ranges))
    .flatMap((of) => (Array.isArray(of[0]) ? (of as Block[]) : [of as Block]));
}

test.each([...OUTSIDE.map((name) => ({ name, policies: ofService(name) })), { name: ALL, policies: ofAll }])(
  'the network lets $name reach exactly the addresses outside that the service itself accepts',
  ({ policies }) => {
    const blocks = rulesOutside(policies).flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
    const lists = blocks.map((block) => ({ in: listOf([block?.cidr ?? '']), out: listOf(block?.except ?? []) }));
    const isOpen = (address: string) =>
      lists.some((it) => it.in.check(address, familyOf(address)) && !it.out.check(address, familyOf(address)));

    const excepted = blocks.flatMap((block) => block?.except ?? []).map((cidr) => ipaddr.parseCIDR(cidr));
    const edges = [...specialBlocks(), ...excepted, ipaddr.parseCIDR('2000::/3')].flatMap(edgesOf);
    expect(edges.length).toBeGreaterThan(200);
    for (const address of [...edges, '168.63.129.15', '168.63.129.17']) {
      expect([address, isOpen(address)]).toEqual([address, isPublicAddress(address)]);
    }
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(isOpen(address)).toBe(isPublicAddress(address));
      }),
      { numRuns: 2_000 },
    );
  },
);
