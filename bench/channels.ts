// node bench/channels.ts: the cost of a call between two services, over gRPC on loopback and inside
// one process.
//
// In every way of calling, caller and server share this process, so the CPU time of a call includes
// both ends. The ways take turns in one run and make the same ChargeFees calls: one fee with one
// call at a time, one fee with 64 calls at a time, and 200 fees with one call at a time. Prints
// medians over the turns. Takes about a minute. Decision 37 has the figures and their consequences.
//
//   LAUREL_BENCH_TURNS    turns of each way (7)
//   LAUREL_BENCH_MS       how long a turn lasts (400)

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChannelIdentity,
  createClient,
  createInProcessChannels,
  type Handlers,
  IN_PROCESS,
  implement,
  openChannelIdentity,
  startGrpcServer,
} from '@laurel/grpc';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { Environment } from '@laurel/proto/common';
import { type ChargeFeesRequest, WalletServiceClient, WalletServiceService } from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { median, table } from './statistics.ts';

const turns = Number(process.env.LAUREL_BENCH_TURNS ?? 7);
const turnMs = Number(process.env.LAUREL_BENCH_MS ?? 400);

await using stack = new AsyncDisposableStack();
const logger = createLogger({ service: 'bench', level: 'error' });
const postedAt = new Date();
const handlers = {
  chargeFees: async ({ charges }: ChargeFeesRequest) => ({
    results: charges.map(() => ({ result: { $case: 'posted' as const, value: { postedAt } } })),
  }),
} as unknown as Handlers<WalletServiceService>;
const services = [implement(WalletServiceService, handlers, { logger, callers: ['challenge'] })];

async function identityOf(service: string): Promise<ChannelIdentity> {
  const directory = mkdtempSync(join(tmpdir(), 'laurel-channels-'));
  stack.defer(() => rmSync(directory, { recursive: true }));
  const issued = await authority.issue({ names: [], service });
  const files = {
    certificate: join(directory, 'certificate.pem'),
    key: join(directory, 'key.pem'),
    ca: join(directory, 'ca.pem'),
  };
  writeFileSync(files.certificate, issued.certificate);
  writeFileSync(files.key, issued.key);
  writeFileSync(files.ca, authority.certificate);
  return stack.use(await openChannelIdentity({ files, reloadMs: 2_000_000, logger }));
}

const authority = await createCertificateAuthority();
const [wallet, challenge] = [await identityOf('wallet'), await identityOf('challenge')];
const host = { host: '127.0.0.1', port: 0, services, logger };
const open = stack.use(await startGrpcServer(host));
const secured = stack.use(await startGrpcServer({ ...host, identity: wallet }));
const channelOf = createInProcessChannels();
stack.use(channelOf('wallet').serve({ services, logger }));

const connect = (options: Omit<Parameters<typeof createClient<WalletServiceService>>[1], 'name'>) =>
  stack.use(createClient(WalletServiceClient, { name: 'wallet', ...options }));
const hot = ['chargeFees'] as const;
const WAYS = {
  'unary, with certificates': connect({ address: `127.0.0.1:${secured.port}`, identity: challenge }),
  'multiplexed, with certificates': connect({ address: `127.0.0.1:${secured.port}`, identity: challenge, hot }),
  multiplexed: connect({ address: `127.0.0.1:${open.port}`, hot }),
  'in the process': connect({ address: IN_PROCESS, inProcess: channelOf('challenge') }),
};

function requestOf(fees: number): ChargeFeesRequest {
  const charges = Array.from({ length: fees }, (_, index) => ({
    transferId: randomUUID(),
    attemptId: randomUUID(),
    player: { tenant: { programId: randomUUID(), environment: Environment.LIVE }, playerRef: `player-${index}` },
    accountId: randomUUID(),
    feeCents: 500n,
    requirement: { verificationLevel: 1, jurisdictions: ['US-CA', 'US-NY'], refuseInsiders: true },
    feeGeneration: 0,
  }));
  return { charges };
}

async function runTurn(client: (typeof WAYS)['multiplexed'], request: ChargeFeesRequest, clients: number) {
  const endAt = performance.now() + turnMs;
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  let calls = 0;
  const callOn = async () => {
    while (performance.now() < endAt) {
      await client.chargeFees(request);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, callOn));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (calls / (performance.now() - startedAt)) * 1_000, cpuUs: (user + system) / calls };
}

const rows: (string | number)[][] = [['way', 'fees a call', 'calls at a time', 'calls/s', 'CPU us a call']];
for (const [fees, clients] of [
  [1, 1],
  [1, 64],
  [200, 1],
] as const) {
  const request = requestOf(fees);
  const measured = new Map<string, { perSecond: number; cpuUs: number }[]>();
  // The first turn of each way warms it up.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [way, client] of Object.entries(WAYS)) {
      const result = await runTurn(client, request, clients);
      if (turn > 0) measured.set(way, [...(measured.get(way) ?? []), result]);
    }
  }
  for (const [way, results] of measured) {
    const of = (key: 'perSecond' | 'cpuUs') => median(results.map((result) => result[key]));
    rows.push([way, fees, clients, Math.round(of('perSecond')), of('cpuUs')]);
  }
}
console.log(table(rows));
