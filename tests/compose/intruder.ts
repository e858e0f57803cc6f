/**
 * Runs in a separate container on a network of the deployment, from an image of the product, with
 * the certificate and password that its test gives it. It reads its attempts as JSON from the first
 * argument, and prints the result of each as JSON.
 */
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { connect as openSocket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { CallFailedError, createClient, openChannelIdentity } from '@laurel/grpc';
import { AttemptServiceClient } from '@laurel/proto/attempts';
import { ChallengeServiceClient } from '@laurel/proto/challenge';
import { IntegrationServiceClient } from '@laurel/proto/integration';
import { TournamentServiceClient } from '@laurel/proto/tournament';
import { WalletServiceClient } from '@laurel/proto/wallet';
import { WebhookServiceClient } from '@laurel/proto/webhook';
import { createLogger } from '@laurel/service';
import { connect } from 'nats';
import pg from 'pg';

export type Intrusion =
  /**
   * Calls every rpc that a service serves with an empty request; `identity` is a folder of
   * /run/identities, or none for calls without TLS.
   */
  | { readonly kind: 'rpcs'; readonly service: keyof typeof CLIENTS; readonly identity: string | null }
  /**
   * Connects by TLS and waits for the service's first bytes; `identity` is a folder of
   * /run/identities, or none for no certificate.
   */
  | { readonly kind: 'tls'; readonly service: keyof typeof CLIENTS; readonly identity: string | null }
  /** Publishes a message as a user of NATS, or without one. */
  | { readonly kind: 'publish'; readonly url: string; readonly tls: boolean; readonly subject: string }
  | { readonly kind: 'query'; readonly url: string; readonly text: string }
  | { readonly kind: 'connect'; readonly host: string; readonly port: number };

/**
 * `ok`, or the failure: codes of gRPC (each once), messages of NATS, SQLSTATEs, codes of sockets
 * and TLS.
 */
export type Results = readonly string[];

/** What each service serves. */
const CLIENTS = {
  wallet: [WalletServiceClient],
  challenge: [ChallengeServiceClient, AttemptServiceClient],
  tournament: [TournamentServiceClient, AttemptServiceClient],
  webhook: [WebhookServiceClient],
  integration: [IntegrationServiceClient],
};
const AUTHORITY = '/run/identities/nats/ca.crt';
const LIMIT_MS = 3_000;
/**
 * The limit of an rpc, which always gets a result. It is longer than LIMIT_MS, because a refused
 * handshake takes long on a busy machine.
 */
const RPC_LIMIT_MS = 10_000;

async function tryRpcs({ service, identity: name }: Extract<Intrusion, { kind: 'rpcs' }>): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const folder = `/run/identities/${name}`;
  const files = { certificate: `${folder}/tls.crt`, key: `${folder}/tls.key`, ca: `${folder}/ca.crt` };
  const logger = createLogger({ service: 'intruder', level: 'silent' });
  const identity =
    name === null ? undefined : opened.use(await openChannelIdentity({ files, reloadMs: 600_000, logger }));
  const rpcs = (CLIENTS[service] as (typeof WalletServiceClient)[]).flatMap((Client) =>
    Object.entries(Client.service).map(([rpc, method]) => ({ Client, rpc, method })),
  );
  const options = { name: service, address: `${service}:9000`, identity, deadlineMs: RPC_LIMIT_MS };
  const codes = new Set<string>();
  for (const { Client, rpc, method } of rpcs) {
    // A client for each rpc: after a few failures a shared breaker would answer instead of the
    // service.
    await using client = createClient(Client, options);
    const call = (client as unknown as Record<string, (request: object) => Promise<unknown>>)[rpc];
    const outcome = await call?.(method.requestDeserialize(Buffer.alloc(0))).then(
      () => 'ok',
      (error: unknown) => (error instanceof CallFailedError ? String(error.code) : String(error)),
    );
    codes.add(outcome ?? 'no such rpc');
  }
  return [...codes].sort().join(' ');
}

async function tryTls({ service, identity }: Extract<Intrusion, { kind: 'tls' }>): Promise<string> {
  const folder = `/run/identities/${identity}`;
  const socket = openTls({
    host: service,
    port: 9000,
    ca: readFileSync(AUTHORITY),
    ...(identity !== null && { cert: readFileSync(`${folder}/tls.crt`), key: readFileSync(`${folder}/tls.key`) }),
    ALPNProtocols: ['h2'],
    // The authority has signed the certificate, which names a service and not a host.
    checkServerIdentity: () => undefined,
  });
  socket.setTimeout(LIMIT_MS);
  try {
    // With TLS 1.3 the client is connected before the server has read its certificate: the first
    // bytes show that the server accepted it.
    return await new Promise((resolve, reject) => {
      socket.once('data', () => resolve('ok'));
      socket.once('close', () => resolve('closed'));
      socket.once('timeout', () => resolve('ETIMEDOUT'));
      socket.once('error', reject);
    });
  } finally {
    socket.destroy();
  }
}

async function tryPublish({ url, tls, subject }: Extract<Intrusion, { kind: 'publish' }>): Promise<string> {
  const { hostname, port, username: user, password: pass } = new URL(url);
  const nats = await connect({
    servers: `${hostname}:${port}`,
    ...(user !== '' && { user, pass }),
    tls: tls ? { ca: readFileSync(AUTHORITY, 'utf8') } : null,
    reconnect: false,
    timeout: LIMIT_MS,
  });
  try {
    const refused = (async () => {
      for await (const { data } of nats.status()) if (String(data).includes('PERMISSIONS')) return String(data);
      return 'closed';
    })();
    nats.publish(subject, 'forged');
    // After the response to the first flush the server has sent the refusal; after the response to
    // the second the client has read it.
    await nats.flush();
    return await Promise.race([refused, nats.flush().then(() => 'ok')]);
  } finally {
    await nats.close();
  }
}

async function tryQuery({ url, text }: Extract<Intrusion, { kind: 'query' }>): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMIT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(text);
    return 'ok';
  } finally {
    await client.end();
  }
}

async function tryConnect({ host, port }: Extract<Intrusion, { kind: 'connect' }>): Promise<string> {
  // Resolves the name before the limit begins: a resolver may take longer than the limit.
  const { address } = await lookup(host);
  return await new Promise((resolve, reject) => {
    const socket = openSocket({ host: address, port, timeout: LIMIT_MS });
    socket.once('connect', () => resolve('ok'));
    socket.once('timeout', () => resolve('ETIMEDOUT'));
    socket.once('error', reject);
  });
}

async function attempt(one: Intrusion): Promise<string> {
  if (one.kind === 'rpcs') return tryRpcs(one);
  if (one.kind === 'tls') return tryTls(one);
  if (one.kind === 'publish') return tryPublish(one);
  if (one.kind === 'query') return tryQuery(one);
  return tryConnect(one);
}

const attempts: readonly Intrusion[] = JSON.parse(process.argv[2] ?? '[]');
const results = await Promise.all(attempts.map((one) => attempt(one).catch((error: unknown) => reasonOf(error))));
process.stdout.write(`${JSON.stringify(results satisfies Results)}\n`);
process.exit(0);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
