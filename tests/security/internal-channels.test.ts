/**
 * The channels behind the gateway, attacked from inside the network: without a certificate or with
 * another service's, without a NATS user or with another service's. Nothing changes, while the
 * calls of rightful callers succeed.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { connectEvents, parseNatsUrl } from '@laurel/events';
import { CallFailedError, createClient, type IdentityFiles, openChannelIdentity } from '@laurel/grpc';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { AttemptServiceClient } from '@laurel/proto/attempts';
import { ChallengeServiceClient } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { type Event, Events, Owner } from '@laurel/proto/events';
import { IntegrationServiceClient } from '@laurel/proto/integration';
import { TournamentServiceClient } from '@laurel/proto/tournament';
import { FeeState, WalletServiceClient, type WalletServiceService } from '@laurel/proto/wallet';
import { WebhookServiceClient } from '@laurel/proto/webhook';
import { createLogger } from '@laurel/service';
import { EMPTY_ACCOUNT_UPDATE, startNats, type TestNats, urlForUser } from '@laurel/testing';
import { SERVICE_NAMES } from '@laurel/topology';
import { feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import { connect, type NatsConnection } from 'nats';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Developer, eventually, expectStatus, type Hook, type Player, startWorld, type World } from '../world.ts';

const logger = createLogger({ service: 'security-test', level: 'silent' });
/** Short enough for a test to wait for it. */
const RELOAD_MS = 100;

let nats: TestNats;
let world: World;
let opened: AsyncDisposableStack;

beforeAll(async () => {
  nats = await startNats({ tls: true });
  const reload = { GRPC_TLS_RELOAD_MS: String(RELOAD_MS) };
  world = await startWorld({
    nats,
    internalTls: true,
    failpoints: true,
    environment: { wallet: reload, gateway: reload, challenge: reload, tournament: reload },
  });
});
afterAll(async () => {
  await world?.expectAuditOk();
  await world?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  opened = new AsyncDisposableStack();
});
afterEach(() => opened.disposeAsync());

async function filesOf(name: string, authority?: CertificateAuthority): Promise<IdentityFiles> {
  const files = await world.stack.certificateOf(name, authority);
  if (files === undefined) throw new Error('this stack has no certificates');
  return files;
}

/**
 * A client of the wallet with this certificate; without one, as an attacker in the network would
 * call.
 */
async function walletFor(files: IdentityFiles | undefined) {
  const identity = files && opened.use(await openChannelIdentity({ files, reloadMs: 600_000, logger }));
  return opened.use(
    createClient(WalletServiceClient, {
      name: 'wallet',
      address: world.stack.address('wallet'),
      identity,
      deadlineMs: 3_000,
    }),
  );
}

const walletOf = async (name: string) => walletFor(await filesOf(name));

async function codeOf(call: Promise<unknown>): Promise<number | string> {
  return await call.then(
    (answer) => JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    (error: unknown) => (error instanceof CallFailedError ? error.code : String(error)),
  );
}

const PERMISSION_DENIED = 7;
const UNAVAILABLE = 14;

describe('the wallet’s gRPC port', () => {
  const depositTo = ({ accountId }: Player) => ({
    accountId,
    environment: Environment.TEST,
    amountCents: 123_456_789n,
    reference: randomUUID(),
  });

  test('the wallet refuses every call without a certificate of its authority', async () => {
    const player = await world.newPlayer({ funds: '5.00' });
    const other = await createCertificateAuthority('somebody else');
    for (const files of [undefined, await filesOf('gateway', other)]) {
      const wallet = await walletFor(files);
      expect(await codeOf(wallet.deposit(depositTo(player)))).toBe(UNAVAILABLE);
      expect(
        await codeOf(wallet.updateAccount({ ...EMPTY_ACCOUNT_UPDATE, accountId: player.accountId, blocked: true })),
      ).toBe(UNAVAILABLE);
    }
    expect(await world.balance(player)).toBe('5.00');
  });

  test.each(['challenge', 'tournament', 'webhook', 'integration', 'wallet', 'nats', 'unknown'])(
    'the wallet refuses a deposit or a change of an account from %s',
    async (name) => {
      const until = new Date(Date.now() + 86_400_000).toISOString();
      const player = await world.newPlayer({ funds: '5.00' });
      expectStatus(200, await world.operator.updateAccount(player.accountId, { self_excluded_until: until }));
      const wallet = await walletOf(name);
      const { accountId } = player;
      const tenant = { programId: world.program.id, environment: Environment.TEST };
      const person = { email: `${randomUUID()}@x.y`, dateOfBirth: '1990-01-01', jurisdiction: 'US-CA' };
      const calls: Record<string, Promise<unknown>> = {
        deposit: wallet.deposit(depositTo(player)),
        updateAccount: wallet.updateAccount({ ...EMPTY_ACCOUNT_UPDATE, accountId, clearSelfExclusion: true }),
        getAccount: wallet.getAccount({ accountId }),
        createAccount: wallet.createAccount({ ...person, verificationLevel: 1 }),
        putPlayerLink: wallet.putPlayerLink({ player: { tenant, playerRef: 'mine' }, email: player.email }),
        addInsider: wallet.addInsider({ programId: world.program.id, accountId }),
        listInsiders: wallet.listInsiders({ programId: world.program.id, limit: 1 }),
        removeInsider: wallet.removeInsider({ programId: world.program.id, accountId: newId() }),
        getStatement: wallet.getStatement({ accountId, environment: Environment.TEST, limit: 1, cursor: '' }),
        listGoodwill: wallet.listGoodwill({ attemptId: newOwnedId('challenge') }),
        audit: wallet.audit({}),
      };
      for (const [rpc, call] of Object.entries(calls))
        expect([rpc, await codeOf(call)]).toEqual([rpc, PERMISSION_DENIED]);
      expect(await world.balance(player)).toBe('5.00');
      const challenge = await world.newChallenge();
      const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
      expect(attempt.body).toMatchObject({ error: { code: 'blocked' } });
      await eventually(
        async () =>
          world.stack.logs('wallet').some((line) => line.includes('call not permitted') && line.includes('Deposit')) ||
          undefined,
        'the wallet logged it',
      );
    },
  );

  test('the wallet accepts a deposit from the gateway', async () => {
    const player = await world.newPlayer({ funds: '5.00' });
    const wallet = await walletOf('gateway');
    await wallet.deposit({ ...depositTo(player), amountCents: 100n });
    expect(await world.balance(player)).toBe('6.00');
  });

  test('the wallet lets a contest service move only its own money', async () => {
    const player = await world.newPlayer({ funds: '5.00' });
    const tenant = { programId: world.program.id, environment: Environment.TEST };
    const challenge = await world.newChallenge();
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const { id: attemptId } = expectStatus(201, await world.partner.createAttempt(entry)).body;
    expect(await world.balance(player)).toBe('4.00');

    const files = await filesOf('tournament');
    const identity = opened.use(await openChannelIdentity({ files, reloadMs: 600_000, logger }));
    for (const hot of [[], ['chargeFees', 'refundFees', 'payAwards']] as const) {
      const tournament = opened.use(
        createClient(WalletServiceClient, { name: 'wallet', address: world.stack.address('wallet'), identity, hot }),
      );
      const another = newOwnedId('challenge');
      const charge = {
        transferId: feeTransferId(another),
        attemptId: another,
        feeGeneration: 0,
        player: { tenant, playerRef: player.ref },
        accountId: player.accountId,
        feeCents: 100n,
        requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
      };
      expect(await codeOf(tournament.chargeFees({ charges: [charge] }))).toBe(PERMISSION_DENIED);
      // The call is refused as a whole, so the service's own charge in it fails too.
      const own = newOwnedId('tournament');
      const charges = [{ ...charge, attemptId: own, transferId: feeTransferId(own) }, charge];
      expect(await codeOf(tournament.chargeFees({ charges }))).toBe(PERMISSION_DENIED);
      const payment = { tenant, accountId: player.accountId, amountCents: 100n, attemptId: another, roundId: '' };
      const awards = [
        { ...payment, awardId: newOwnedId('challenge') },
        { ...payment, awardId: newOwnedId('tournament') },
        { ...payment, awardId: newOwnedId('challenge'), attemptId: '', roundId: newId() },
      ];
      for (const award of awards)
        expect(await codeOf(tournament.payAwards({ payments: [award] }))).toBe(PERMISSION_DENIED);
      const refund = { feeTransferId: feeTransferId(attemptId), reason: 'voided' };
      expect(await tournament.refundFees({ refunds: [refund] })).toEqual({
        results: [{ refunded: false, refundedAt: undefined }],
      });
      expect(await codeOf(tournament.releasePayout({ awardId: newOwnedId('challenge') }))).toBe(PERMISSION_DENIED);
      expect(await codeOf(tournament.denyPayout({ awardId: newOwnedId('challenge') }))).toBe(PERMISSION_DENIED);
      expect(await codeOf(tournament.listFees({ afterAttemptId: '', limit: 10, owner: 'challenge' }))).toBe(
        PERMISSION_DENIED,
      );
    }
    expect(await world.balance(player)).toBe('4.00');
  });

  test('the wallet does not let a contest service decide another’s fee', async () => {
    const player = await world.newPlayer({ funds: '5.00' });
    const round = await world.newRound();
    world.stack.arm('tournament.create.before-charge', 'delay:3000');
    const created = world.partner.createAttempt({ tournament_round_id: round.id, player_ref: player.ref });
    const attemptId = await eventually(async () => {
      const query = `select id from attempts where status = 'pending' and player_ref = $1`;
      return (await world.stack.database('tournament').query<{ id: string }>(query, [player.ref]))[0]?.id;
    }, 'the tournament is about to charge');
    const transferId = feeTransferId(attemptId);

    const identity = opened.use(
      await openChannelIdentity({ files: await filesOf('challenge'), reloadMs: 600_000, logger }),
    );
    // An id of its own with the same timestamp, so that the ids differ only in the derived part.
    const own = `${attemptId.slice(0, 15)}1${newOwnedId('challenge').slice(16)}`;
    for (const hot of [[], ['chargeFees', 'resolveFees']] as const) {
      const challenge = opened.use(
        createClient(WalletServiceClient, { name: 'wallet', address: world.stack.address('wallet'), identity, hot }),
      );
      const query = { transferId, attemptId, feeGeneration: 0, tombstoneIfAbsent: true };
      for (const change of [
        {},
        { attemptId: own },
        { attemptId: own, feeGeneration: 1 },
        // A query without an attempt id is refused too.
        { attemptId: '' },
        { attemptId: '', tombstoneIfAbsent: false },
        { attemptId: transferId },
      ]) {
        const tried = await codeOf(challenge.resolveFees({ queries: [{ ...query, ...change }] }));
        expect([change, tried]).toEqual([change, PERMISSION_DENIED]);
      }
      // A charge also decides the id: it is posted, or becomes a tombstone with the refusal.
      const charge = {
        transferId,
        attemptId: own,
        feeGeneration: 0,
        player: { tenant: { programId: world.program.id, environment: Environment.TEST }, playerRef: player.ref },
        accountId: player.accountId,
        feeCents: 100_00n,
        requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
      };
      expect(await codeOf(challenge.chargeFees({ charges: [charge] }))).toBe(PERMISSION_DENIED);
      // The contest service may query its own ids, and gets a result.
      const ofOwn = { transferId: feeTransferId(own, 1), attemptId: own, feeGeneration: 1, tombstoneIfAbsent: false };
      expect(await challenge.resolveFees({ queries: [ofOwn] })).toEqual({
        resolutions: [{ state: FeeState.ABSENT, refusalCode: '' }],
      });
    }
    expect(expectStatus(201, await created).body.id).toBe(attemptId);
    const decided = await world.stack
      .database('wallet')
      .query('select state, attempt_id from transfers where id = $1', [transferId]);
    expect(decided).toEqual([{ state: 'posted', attempt_id: attemptId }]);
    expect(await world.balance(player)).toBe('4.00');
  });
});

/** The permitted callers of each call, listed independently: every other caller is refused. */
const GATEWAY = ['gateway'];
const CONTEST_SERVICES = ['challenge', 'tournament'];
const CALLERS_OF_WALLET: Record<keyof WalletServiceService, readonly string[]> = {
  putPlayerLink: GATEWAY,
  resolvePlayers: CONTEST_SERVICES,
  checkEligibility: ['challenge'],
  chargeFees: CONTEST_SERVICES,
  resolveFees: CONTEST_SERVICES,
  refundFees: CONTEST_SERVICES,
  payAwards: CONTEST_SERVICES,
  listAccounts: GATEWAY,
  releasePayout: CONTEST_SERVICES,
  denyPayout: CONTEST_SERVICES,
  getPayout: [...GATEWAY, ...CONTEST_SERVICES],
  describePayout: GATEWAY,
  listPayouts: GATEWAY,
  createAccount: GATEWAY,
  getAccount: GATEWAY,
  lookUpId: GATEWAY,
  updateAccount: GATEWAY,
  deposit: GATEWAY,
  listGoodwill: GATEWAY,
  getStatement: GATEWAY,
  addInsider: GATEWAY,
  listInsiders: GATEWAY,
  removeInsider: GATEWAY,
  putSandboxPlayer: GATEWAY,
  holdNextAward: GATEWAY,
  listPlayerLinks: GATEWAY,
  severPlayerLinks: GATEWAY,
  liftSeverance: GATEWAY,
  getProgramLimits: GATEWAY,
  getProgramMoney: GATEWAY,
  getMoney: GATEWAY,
  setProgramLimits: GATEWAY,
  audit: GATEWAY,
  listFees: CONTEST_SERVICES,
  getFee: CONTEST_SERVICES,
  listAwardPayouts: CONTEST_SERVICES,
};

describe('every rpc of every service accepts exactly its callers', () => {
  const LISTS = new Set(['listFees', 'listAwardPayouts']);
  type Method = { readonly requestDeserialize: (bytes: Buffer) => object };
  const byGateway = (service: object) => Object.fromEntries(Object.keys(service).map((rpc) => [rpc, GATEWAY]));
  const CALLERS_OF_ATTEMPTS = {
    ...byGateway(AttemptServiceClient.service),
    reportOutcomes: [...GATEWAY, 'integration'],
    findOpenAttempts: ['integration'],
  };

  test.each([
    { what: 'wallet', name: 'wallet', Client: WalletServiceClient, callers: CALLERS_OF_WALLET },
    ...(['challenge', 'tournament'] as const).map((name) => ({
      what: `attempts of ${name}`,
      name,
      Client: AttemptServiceClient,
      callers: CALLERS_OF_ATTEMPTS,
    })),
    {
      what: 'challenge',
      name: 'challenge',
      Client: ChallengeServiceClient,
      callers: { ...byGateway(ChallengeServiceClient.service), recordListenedScores: ['integration'] },
    },
    {
      what: 'tournament',
      name: 'tournament',
      Client: TournamentServiceClient,
      callers: byGateway(TournamentServiceClient.service),
    },
    {
      what: 'webhook',
      name: 'webhook',
      Client: WebhookServiceClient,
      callers: byGateway(WebhookServiceClient.service),
    },
    {
      what: 'integration',
      name: 'integration',
      Client: IntegrationServiceClient,
      callers: byGateway(IntegrationServiceClient.service),
    },
  ] as const)('every rpc accepts its callers and no others: $what', async ({ name, Client, callers }) => {
    const methods = Client.service as unknown as Record<string, Method>;
    expect(Object.keys(callers).sort()).toEqual(Object.keys(Client.service).sort());
    for (const caller of [...SERVICE_NAMES, 'nats']) {
      const identity = opened.use(
        await openChannelIdentity({ files: await filesOf(caller), reloadMs: 600_000, logger }),
      );
      const client = opened.use(
        createClient(Client as typeof WalletServiceClient, {
          name,
          address: world.stack.address(name),
          identity,
          deadlineMs: 10_000,
        }),
      ) as unknown as Record<string, (request: object) => Promise<unknown>>;
      for (const [rpc, accepted] of Object.entries(callers)) {
        // An empty request cannot succeed: an rpc that accepts the caller fails because of it.
        const { requestDeserialize } = methods[rpc] as Method;
        // A contest service lists its own rows.
        const request = { ...requestDeserialize(Buffer.alloc(0)), ...(LISTS.has(rpc) && { owner: caller }) };
        const call = client[rpc]?.(request) ?? Promise.reject(new Error(`there is no ${rpc}`));
        const isTaken = (await codeOf(call)) !== PERMISSION_DENIED;
        expect({ rpc, caller, isTaken }).toEqual({ rpc, caller, isTaken: accepted.includes(caller) });
      }
    }
  });
});

describe('certificates of the internal channels', () => {
  test('services reload certificates while they run', async () => {
    const play = async () => {
      const player = await world.newPlayer({ funds: '5.00' });
      const challenge = await world.newChallenge();
      expectStatus(201, await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }));
    };
    await play();
    const readAgain = () => world.stack.logs('wallet').filter((line) => line.includes('certificates were read again'));
    const before = readAgain().length;
    const kept = world.stack.filesOf('wallet');
    const next = await filesOf('wallet');
    // One file after the other, as an operator copies them: in between, the key does not match the
    // certificate.
    copyFileSync(next.certificate, kept.certificate);
    await eventually(
      async () => world.stack.logs('wallet').some((line) => line.includes('could not be read again')) || undefined,
      'the wallet found half of it',
    );
    await play();
    copyFileSync(next.key, kept.key);
    await eventually(async () => readAgain().length > before || undefined, 'the wallet read them again');
    await play();
    const wallet = await walletOf('gateway');
    expect(await codeOf(wallet.audit({}))).toContain('checks');

    writeFileSync(kept.ca, 'nonsense');
    await play();
    expect(world.stack.pids('wallet')).toHaveLength(1);
  });
});

/**
 * NATS's error for a publish to a forbidden subject. A request without a reply is a time-out
 * instead.
 */
const FORBIDDEN_PUBLISH = /permissions violation for publish/i;

describe('NATS users', () => {
  let developer: Developer;
  let hook: Hook;
  beforeAll(async () => {
    developer = await world.newDeveloper();
    hook = await world.newReceiver(developer);
  });

  async function login(user: 'operator' | 'challenge' | 'tournament' | 'webhook'): Promise<NatsConnection> {
    const { servers, password = '' } = parseNatsUrl(nats.url);
    const tls = { caFile: nats.caFile ?? '' };
    const inboxPrefix = `_INBOX_${user}`;
    const connection = await connect({ servers, user, pass: password, inboxPrefix, tls, reconnect: false });
    opened.defer(() => connection.close());
    return connection;
  }

  /** A forged win in the developer's own program. */
  function forged(): Event {
    return {
      id: randomUUID(),
      occurredAt: new Date(),
      tenant: { programId: developer.program.id, environment: Environment.TEST },
      owner: Owner.TOURNAMENT,
      payload: {
        $case: 'attemptSettled',
        value: {
          attemptId: newOwnedId('tournament'),
          challengeId: '',
          tournamentRoundId: newId(),
          playerRef: 'unlinked',
          score: 1e9,
          metThreshold: false,
          award: undefined,
          recordedAt: new Date(),
        },
      },
    };
  }

  const encode = (event: Event) => Events.encode({ events: [event] }).finish();
  const subjectOf = (owner: string) => `${world.stack.events.prefix}.test.${owner}.attempt.settled`;

  test('NATS refuses a connection without a valid user', async () => {
    const { servers, user = '', password = '' } = parseNatsUrl(nats.url);
    const tls = { caFile: nats.caFile ?? '' };
    for (const credentials of [{}, { user: 'challenge', pass: 'guess' }, { user: 'gateway', pass: password }])
      await expect(connect({ servers, tls, ...credentials, reconnect: false })).rejects.toThrow(/authorization/i);
    await expect(connect({ servers, user, pass: password, reconnect: false })).rejects.toThrow();
  });

  test('NATS stores an event only from the service that owns the subject', async () => {
    const event = forged();
    for (const user of ['challenge', 'webhook'] as const) {
      const connection = await login(user);
      await expect(connection.jetstream().publish(subjectOf('tournament'), encode(event))).rejects.toThrow(
        FORBIDDEN_PUBLISH,
      );
    }
  });

  test('the webhook service drops an event that a contest service published about another’s attempt', async () => {
    const event = forged();
    const challenge = await login('challenge');
    // The most that a challenge service can do: publish on its own subject, with its own name or
    // the other's.
    for (const owner of [Owner.TOURNAMENT, Owner.CHALLENGE])
      await challenge.jetstream().publish(subjectOf('challenge'), encode({ ...event, owner }));
    await eventually(
      async () =>
        world.stack.logs('webhook').filter((line) => line.includes('does not own it')).length >= 2 || undefined,
      'both were dropped',
    );
    // A later event from the rightful owner arrives.
    const tournament = opened.use(
      connectEvents({
        url: urlForUser('tournament', nats.url),
        caFile: nats.caFile,
        prefix: world.stack.events.prefix,
        name: 'tournament',
        logger,
      }),
    );
    await eventually(async () => tournament.connection.current, 'it is connected');
    const rightful = forged();
    expect(await tournament.publish([rightful])).toEqual({ stored: 1, error: undefined });
    const { payload } = rightful;
    await hook.event('attempt.settled', payload?.$case === 'attemptSettled' ? payload.value.attemptId : '');
    const consumed = await world.stack
      .database('webhook')
      .query('select id from consumed_events where id = $1', [event.id]);
    expect(consumed).toEqual([]);
  });

  test('NATS does not let publishing services read events or delete the stream', async () => {
    const stream = world.stack.events.prefix.toUpperCase();
    for (const user of ['challenge', 'tournament', 'webhook'] as const) {
      const connection = await login(user);
      const { streams } = await connection.jetstreamManager({ checkAPI: false });
      for (const act of [streams.delete(stream), streams.purge(stream), streams.getMessage(stream, { seq: 1 })])
        await expect(act).rejects.toThrow(FORBIDDEN_PUBLISH);
      const refused = Promise.withResolvers<unknown>();
      connection.subscribe(`${world.stack.events.prefix}.>`, { callback: (error) => refused.resolve(error) });
      expect(String(await refused.promise)).toMatch(/permissions/i);
    }
    const operator = await login('operator');
    const { streams } = await operator.jetstreamManager({ checkAPI: false });
    expect((await streams.info(stream)).config.name).toBe(stream);
  });
});
