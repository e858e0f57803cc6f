/**
 * Brings up docker-compose.yml like an operator (secrets, identities, up), with test settings on
 * top.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import {
  CHECKOUT,
  freePorts,
  NODE,
  SERVICES,
  type Service,
  type StackDescription,
  testSettings,
} from '@laurel/testing';
import { byService, isNatsUser } from '@laurel/topology';
import { joinEnvironments } from '@laurel/topology/one-process';
import { parse } from 'yaml';
import { BLACK_BOX_SETTINGS } from '../black-box-settings.ts';
import { exitOf } from './child.ts';
import { type Engine, mountTmpfs, type RunContext } from './engine.ts';
import type { BaseImages } from './images.ts';
import { bridgeName, COMPOSE_PROJECT, newStackFolder, removeProject } from './leftovers.ts';

const execute = promisify(execFile);

/** The stack as tests find it: as files of one folder, which an environment variable names. */
export interface ComposeStack extends AsyncDisposable {
  /** The folder with the description for `joinWorld`. The demo uses it as LAUREL_DATA_DIR. */
  readonly folder: string;
  readonly readyFile: string;
}

/** What tests need to put faults into containers, as `containers.json` in the folder. */
export interface ContainersDescription {
  readonly environment: Readonly<Record<string, string>>;
  readonly project: string;
  /** The folder of each server's disk: a separate file system of `DISK_MIB`. */
  readonly disks: Readonly<Record<'postgres' | 'nats', string>>;
  readonly identities: string;
  /** Docker Compose with the project and files of the stack; append a command, or another file. */
  readonly compose: readonly [string, ...string[]];
  /** `compose` for docker-compose.one-process.yml, whose container does not run yet. */
  readonly oneProcess: readonly [string, ...string[]];
}

const COMPOSE_FILE = join(CHECKOUT, 'docker-compose.yml');
/** The deployment of all services in one container, and the name of its image in the tests. */
const ONE_PROCESS_FILE = join(CHECKOUT, 'docker-compose.one-process.yml');
const ONE_PROCESS_IMAGE = 'laurel-test/all';

/** Room for PostgreSQL's clusters and log, and for NATS's store. A test fills what is left. */
const DISK_MIB = { postgres: 2_048, nats: 256 } as const;
/** The path inside the services. */
const EGRESS_CA = '/run/egress/ca.pem';
const POSTGRES_PORT = 5432;
const HEALTH_INTERVAL = '3s';
/**
 * The gateway takes over a request that a killed gateway or database left unfinished after five
 * seconds, instead of a minute.
 */
const FAULT_SETTINGS: Partial<Record<Service, Readonly<Record<string, string>>>> = {
  gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '5' },
};

/**
 * Builds the images of the services. The engine keeps each layer by its inputs, so unchanged ones
 * are not rebuilt. Rejects if the signal is aborted meanwhile.
 */
export async function buildServices(engine: Engine, images: BaseImages, { print, signal }: RunContext): Promise<void> {
  const folder = newStackFolder();
  try {
    // Compose reads the whole file for a build, and requires every secret in it.
    writeSecrets(join(folder, '.env'), images);
    const override = join(folder, 'override.yml');
    const lines = Object.entries(readComposeFile(COMPOSE_FILE).services).flatMap(([name, { image }]) => [
      `  ${name}:`,
      ...testImageLine(image),
      // A build needs no identities, which are written only for a start.
      '    env_file: !reset null',
    ]);
    writeFileSync(override, `services:\n${lines.join('\n')}\n`);
    const ofOneProcess = join(folder, 'one-process.yml');
    const image = [`    image: ${ONE_PROCESS_IMAGE}`, '    env_file: !reset null', ''];
    writeFileSync(ofOneProcess, ['services:', '  one-process:', ...image].join('\n'));
    print('Building the services ...');
    const env = { ...process.env, ...engine.environment };
    const build = async (files: readonly [string, string], names: readonly string[]) => {
      const [program, ...first] = composeCommand(engine, folder, files);
      await output(program, [...first, 'build', '--quiet', ...names], { env, signal });
    };
    await build([COMPOSE_FILE, override], SERVICES);
    await build([ONE_PROCESS_FILE, ofOneProcess], ['one-process']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Starts the stack from the built images; rejects if the signal is aborted meanwhile. Disposing
 * removes containers, networks, volumes and disks.
 */
export async function startComposeStack(
  engine: Engine,
  images: BaseImages,
  { print, signal }: RunContext,
): Promise<ComposeStack> {
  await using starting = new AsyncDisposableStack();
  const folder = newStackFolder();
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const subnets = chooseSubnets();
  const [httpPort = 0] = await freePorts(1);

  const secrets = writeSecrets(join(folder, '.env'), { ...images, LAUREL_HTTP_PORT: String(httpPort) });
  const identities = join(folder, 'identities');
  await execute(NODE, ['--disable-warning=ExperimentalWarning', 'deploy/local/write-identities.ts', identities], {
    cwd: CHECKOUT,
  });
  const webhookCa = await writeWebhookCa(folder, subnets['webhook-outside'].host);
  const disks = await makeDisks(folder, starting);
  const override = join(folder, 'override.yml');
  const ofOneProcess = join(folder, 'one-process.yml');
  const overridden = { subnets, identities, certificate: webhookCa.certificate, disks };
  writeFileSync(override, overrideOf(overridden));
  writeFileSync(ofOneProcess, oneProcessOverrideOf(overridden));

  const environment = { ...process.env, ...engine.environment };
  const ofStack = composeCommand(engine, folder, [COMPOSE_FILE, override]);
  const run = (command: readonly string[], until?: AbortSignal) => {
    const [program, ...first] = ofStack;
    return output(program, [...first, ...command], { env: environment, signal: until });
  };
  const compose = (...command: readonly string[]) => run(command, signal);
  starting.defer(async () => {
    await run(['down', '--volumes', '--timeout', '2', '--remove-orphans']);
    await removeProject(COMPOSE_PROJECT, engine.environment);
  });
  print('Starting the stack ...');
  await compose('up', '--detach', '--no-build').catch(async (error: Error) => {
    const logs = await compose('logs', '--no-color', '--tail', '15').catch(String);
    throw new Error(`${error.message}\n${logs}`);
  });

  const description: StackDescription = {
    base_url: `http://127.0.0.1:${httpPort}`,
    operator_token: secrets('OPERATOR_TOKEN'),
    webhook_ca: webhookCa,
    databases: Object.fromEntries(SERVICES.map((service) => [service, urlsOf(service, subnets, secrets)])),
  };
  const containers: ContainersDescription = {
    environment: engine.environment,
    project: COMPOSE_PROJECT,
    disks,
    identities,
    compose: ofStack,
    oneProcess: composeCommand(engine, folder, [ONE_PROCESS_FILE, ofOneProcess]),
  };
  writeFileSync(join(folder, 'containers.json'), JSON.stringify(containers));
  writeFileSync(join(folder, 'ready.json'), JSON.stringify(description));
  const owned = starting.move();
  return { folder, readyFile: join(folder, 'ready.json'), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * Returns the command of Docker Compose with this run's project, a file of the checkout, and one
 * that overrides it.
 */
function composeCommand(engine: Engine, folder: string, [file, override]: readonly [string, string]) {
  const files = ['-f', file, '-f', override];
  return [...engine.compose, '-p', COMPOSE_PROJECT, '--env-file', join(folder, '.env'), ...files] as const;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly image: string }>>;
  readonly networks: Readonly<Record<string, object | null>>;
}

function readComposeFile(file: string): ComposeFile {
  return parse(readFileSync(file, 'utf8'), { merge: true });
}

/** A separate image name: the machine may have images of a deployment. */
function testImageLine(image: string): readonly string[] {
  return image.startsWith('laurel/') ? [`    image: ${image.replace('laurel/', 'laurel-test/')}`] : [];
}

/**
 * The networks whose addresses must be known: `webhook-outside`, where this machine has the address
 * of the partners' servers, and `administration`, where PostgreSQL has one. They are in the range
 * for device tests (RFC 2544), which no machine's own network uses.
 */
function chooseSubnets() {
  const third = 2 * randomInt(0, 128);
  const subnet = (number: number) => ({ subnet: `198.18.${number}.0/24`, host: `198.18.${number}.1` });
  return {
    'webhook-outside': subnet(third),
    administration: { ...subnet(third + 1), postgres: `198.18.${third + 1}.10` },
  };
}

type Subnets = ReturnType<typeof chooseSubnets>;

/** Writes every secret that docker-compose.yml requires. Returns the secret of a name. */
function writeSecrets(file: string, others: Readonly<Record<string, string>>): (name: string) => string {
  const composeFile = readFileSync(join(CHECKOUT, 'docker-compose.yml'), 'utf8');
  const demanded = new Set([...composeFile.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name));
  const secrets = new Map<string, string>();
  for (const name of demanded)
    secrets.set(name, randomBytes(32).toString(name.endsWith('_PASSWORD') ? 'hex' : 'base64'));
  const lines = [...secrets, ...Object.entries(others)].map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  return (name) => secrets.get(name) ?? '';
}

function urlsOf(service: Service, subnets: Subnets, secrets: (name: string) => string) {
  const name = service.toUpperCase();
  const url = (user: string, secret: string) =>
    `postgresql://${user}:${secrets(secret)}@${subnets.administration.postgres}:${POSTGRES_PORT}/${service}`;
  return {
    superuser_url: url('postgres', 'POSTGRES_PASSWORD'),
    owner_url: url(`laurel_${service}_owner`, `${name}_MIGRATION_DATABASE_PASSWORD`),
    running_url: url(`laurel_${service}`, `${name}_DATABASE_PASSWORD`),
  };
}

/** The authority of the partners' servers in tests, and a certificate for them. */
async function writeWebhookCa(folder: string, host: string) {
  const authority = await createCertificateAuthority('Partners of the tests');
  const receiver = await authority.issue({ names: [host, 'localhost'] });
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  return {
    certificate: write('egress-ca.pem', authority.certificate),
    key: write('egress-ca-key.pem', authority.key),
    receiver_certificate: write('receiver-certificate.pem', receiver.certificate),
    receiver_key: write('receiver-key.pem', receiver.key),
    receiver_host: host,
  };
}

/**
 * Makes separate file systems for PostgreSQL and NATS, so that a test can fill them; they outlive
 * restarts of the containers.
 */
async function makeDisks(folder: string, starting: AsyncDisposableStack) {
  const disks = { postgres: join(folder, 'disk-postgres'), nats: join(folder, 'disk-nats') };
  for (const server of ['postgres', 'nats'] as const) {
    mkdirSync(disks[server]);
    await mountTmpfs(disks[server], `size=${DISK_MIB[server]}m,mode=755`);
    starting.defer(async () => void (await execute('umount', ['--lazy', disks[server]])));
  }
  return disks;
}

interface Overridden {
  readonly subnets: Subnets;
  readonly identities: string;
  readonly certificate: string;
  readonly disks: ContainersDescription['disks'];
}

function testEnvironments({ subnets }: Overridden): Readonly<Record<Service, Readonly<Record<string, string>>>> {
  // Some tests register an address of the container itself, to which nothing is ever sent.
  const receivers = `127.0.0.0/8,${subnets['webhook-outside'].host}/32`;
  const settings = testSettings({ receivers, caFile: EGRESS_CA });
  return byService((name) => ({ ...settings[name], ...BLACK_BOX_SETTINGS[name], ...FAULT_SETTINGS[name] }));
}

/** What differs from docker-compose.one-process.yml. */
function oneProcessOverrideOf(on: Overridden): string {
  const environments = Object.entries(testEnvironments(on)) as [Service, Readonly<Record<string, string>>][];
  const environment = joinEnvironments(new Map(environments));
  return [
    'services:',
    '  one-process:',
    `    image: ${ONE_PROCESS_IMAGE}`,
    `    environment: ${JSON.stringify(environment)}`,
    `    volumes: !override ["${on.identities}/one-process:/run/identity:ro", "${on.certificate}:${EGRESS_CA}:ro"]`,
    `    env_file: !override ["${on.identities}/one-process.env"]`,
    // The machine chooses the port, because the stack's gateway already uses its own.
    '    ports: !override ["127.0.0.1:0:8080"]',
    `    healthcheck: { interval: ${HEALTH_INTERVAL} }`,
    ...networkLines(ONE_PROCESS_FILE, on.subnets),
    '',
  ].join('\n');
}

/**
 * The file's networks, each with a bridge by whose name a later run removes it, and two with fixed
 * addresses. A network of both files is the same in both.
 */
function networkLines(file: string, subnets: Subnets): readonly string[] {
  const ofBothFiles = [COMPOSE_FILE, ONE_PROCESS_FILE].flatMap((each) => Object.keys(readComposeFile(each).networks));
  const names = [...new Set(ofBothFiles)];
  const lines = Object.keys(readComposeFile(file).networks).map((network) => {
    const bridge = `driver_opts: { com.docker.network.bridge.name: ${bridgeName(names.indexOf(network))} }`;
    if (!isAddressed(network, subnets)) return `  ${network}: { ${bridge} }`;
    const { subnet, host } = subnets[network];
    return `  ${network}: { ${bridge}, ipam: { config: [{ subnet: ${subnet}, gateway: ${host} }] } }`;
  });
  return ['networks:', ...lines];
}

function isAddressed(network: string, subnets: Subnets): network is keyof Subnets {
  return network in subnets;
}

/** What differs from docker-compose.yml, as a second file of Compose. */
function overrideOf(on: Overridden): string {
  chmodSync(on.certificate, 0o644);
  const lines = ['services:'];
  const environments = testEnvironments(on);
  for (const [name, { image }] of Object.entries(readComposeFile(COMPOSE_FILE).services)) {
    lines.push(`  ${name}:`, ...testImageLine(image));
    if (name === 'nats')
      lines.push(`    volumes: !override ["nats-data:/data", "${on.identities}/nats:/run/identity:ro"]`);
    if (name === 'postgres')
      lines.push(`    networks: { administration: { ipv4_address: ${on.subnets.administration.postgres} } }`);
    const service = SERVICES.find((known) => known === name);
    if (service === undefined) continue;
    lines.push(
      `    environment: ${JSON.stringify(environments[service])}`,
      `    volumes: !override ["${on.identities}/${name}:/run/identity:ro", "${on.certificate}:${EGRESS_CA}:ro"]`,
      // The short interval is for the test, which waits for each start. The rest of the health
      // check is the image's own.
      `    healthcheck: { interval: ${HEALTH_INTERVAL} }`,
    );
    if (isNatsUser(service)) lines.push(`    env_file: !override ["${on.identities}/${name}.env"]`);
  }
  const bound = (server: 'postgres' | 'nats') =>
    `  ${server}-data: { driver: local, driver_opts: { type: none, o: bind, device: ${on.disks[server]} } }`;
  lines.push(...networkLines(COMPOSE_FILE, on.subnets), 'volumes:', bound('postgres'), bound('nats'));
  return `${lines.join('\n')}\n`;
}

/**
 * Runs a command to its end, even if the signal is aborted, and returns its output; rejects with
 * the last lines.
 */
async function output(
  program: string,
  parameters: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const child = spawn(program, parameters, { cwd: CHECKOUT, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const code = await exitOf(child);
  const text = Buffer.concat(printed).toString();
  if (code !== 0) throw new Error(`docker compose ended with ${code}:\n${text.slice(-4_000)}`);
  return text;
}
