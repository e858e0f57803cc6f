/** The samples of docs/samples as a partner would copy them: compiled, and run against a stack. */
import { execFile, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { CHECKOUT } from '@laurel/testing';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTarget } from '../integrations/target.ts';
import { playAttempt } from '../webhooks/play.ts';
import { expectStatus, type HookRequest, joinWorld, type SharedWorld } from '../world.ts';
import { BUILD_ENVIRONMENT, findMissingLanguages, LANGUAGES, type Language } from './languages.ts';
import { type Fate, type ReplacementResponse, startLossyProxy } from './lossy-proxy.ts';

const SAMPLES = join(CHECKOUT, 'docs/samples');
const DEADLINE_MS = 240_000;
const IN_PROGRESS: ReplacementResponse = {
  status: 409,
  headers: { 'retry-after': '1' },
  body: JSON.stringify({
    error: { code: 'idempotency_in_progress', message: 'The first request is still in progress.' },
  }),
};
const LIMITED: ReplacementResponse = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: JSON.stringify({ error: 'Too many requests.', retry_after: 1, limit: 300, reset_at: new Date().toISOString() }),
};
const BROKEN: ReplacementResponse = {
  status: 500,
  body: JSON.stringify({ error: { code: 'internal_error', message: 'A failure on our side.' } }),
};

/** How a run of a sample ended. */
interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

interface Delivery {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: string;
  readonly body: string;
}

let world: SharedWorld;
let folder: string;
/** Two real deliveries to one endpoint, whose secret was replaced between them. */
let deliveries: { readonly old: Delivery; readonly new: Delivery };
let secrets: { readonly old: string; readonly new: string };
let missing: ReadonlyMap<Language, string>;

beforeAll(async () => {
  missing = await findMissingLanguages();
  for (const why of missing.values()) process.stderr.write(`Samples are not run: ${why}.\n`);
  folder = mkdtempSync(join(tmpdir(), 'laurel-languages-'));
  cpSync(SAMPLES, folder, { recursive: true });
  const present = LANGUAGES.filter((language) => !missing.has(language));
  await Promise.all([...present.map(compile), joinWorldWithDeliveries()]);
}, DEADLINE_MS);

afterAll(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  await world?.[Symbol.asyncDispose]();
});

async function compile({ folder: name, build }: Language): Promise<void> {
  const env = { ...process.env, ...BUILD_ENVIRONMENT };
  if (build !== undefined) await promisify(execFile)('sh', ['-ec', build], { cwd: join(folder, name), env });
}

async function joinWorldWithDeliveries(): Promise<void> {
  world = await joinWorld();
  const developer = await world.newDeveloper();
  const hook = await world.newReceiver(developer);
  const first = await hook.event('attempt.settled', await playAttempt(world, developer));
  const rotated = expectStatus(200, await developer.portal.rotateSecret(hook.endpoint.id)).body;
  const sent = expectStatus(202, await developer.portal.sendTest(hook.endpoint.id)).body;
  const second = await hook.find(({ deliveryId }) => deliveryId === sent.delivery_id);
  deliveries = { old: deliveryOf(first), new: deliveryOf(second) };
  secrets = { old: hook.secret, new: rotated.signing_secret };
}

function deliveryOf({ headers, body }: HookRequest): Delivery {
  return {
    id: String(headers['webhook-id']),
    timestamp: String(headers['webhook-timestamp']),
    signatures: String(headers['webhook-signature']),
    body: body.toString(),
  };
}

/** Runs a sample until it exits. */
async function run(
  language: Language,
  [sample, ...args]: readonly [string, ...string[]],
  input: string,
  settings: Readonly<Record<string, string>>,
): Promise<Ended> {
  const [program = '', ...flags] = language.command;
  const cwd = join(folder, language.folder);
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...settings };
  const child = spawn(program, [...flags, sample, ...args], { cwd, env });
  child.stdin.end(input);
  const [[code], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, output, errors: errors.trim() };
}

/** A network that treats each request of a sample as the script says and records its headers. */
async function startScript(script: readonly (Fate | ReplacementResponse)[]) {
  const requests: { readonly at: number; readonly headers: NodeJS.Dict<string | string[]> }[] = [];
  const proxy = await startLossyProxy(world.stack.baseUrl, ({ headers }) => {
    requests.push({ at: performance.now(), headers });
    return script[Math.min(requests.length, script.length) - 1] ?? 'pass';
  });
  return { ...proxy, requests };
}

describe.for(LANGUAGES)('the samples in $name', { concurrent: true, timeout: DEADLINE_MS }, (language) => {
  test('the samples run with the version that docs/samples/README.md names or a later version', async ({ skip }) => {
    if (missing.has(language)) return skip(missing.get(language));
    const { stdout } = await promisify(execFile)('sh', ['-ec', language.version]);
    const [, runtime = '', installed = ''] = /^(\w+) (\d+(?:\.\d+)?)/.exec(stdout) ?? [];
    const row = readFileSync(join(SAMPLES, 'README.md'), 'utf8').match(
      new RegExp(`^\\| ${language.name} +\\| [^|]+\\| ${runtime} (\\d+(?:\\.\\d+)?) `, 'm'),
    );
    expect(Number(installed), stdout).toBeGreaterThan(0);
    expect(compareVersions(installed, row?.[1] ?? 'none'), `${stdout} ${row?.[0]}`).toBeGreaterThanOrEqual(0);
  });

  test('the samples accept a genuine and recent webhook and refuse all others', async ({ skip }) => {
    if (missing.has(language)) return skip(missing.get(language));
    const verdict = async ({ id, timestamp, signatures, body }: Delivery, ...given: readonly string[]) => {
      const settings = { LAUREL_WEBHOOK_SECRETS: given.join(' ') };
      const ended = await run(language, ['verify-webhook', id, timestamp, signatures], body, settings);
      return ended.code === 0 && ended.output === body ? 'accepted' : `${ended.code} ${ended.errors}`;
    };
    const mismatch = '1 refused: signature_mismatch';

    expect(await verdict(deliveries.old, secrets.old)).toBe('accepted');
    expect(await verdict(deliveries.old, secrets.new)).toBe(mismatch);
    expect(await verdict(deliveries.new, secrets.old)).toBe(mismatch);
    for (const delivery of [deliveries.old, deliveries.new]) {
      expect(await verdict(delivery, secrets.new, secrets.old)).toBe('accepted');
    }
    for (const change of [
      { body: deliveries.old.body.replace('"score":1', '"score":2') },
      { body: `${deliveries.old.body} ` },
      { id: randomUUID() },
      { timestamp: String(Number(deliveries.old.timestamp) + 1) },
      { signatures: deliveries.old.signatures.replace('v1,', 'v1a,') },
      { signatures: 'v1,' },
    ]) {
      expect(await verdict({ ...deliveries.old, ...change }, secrets.old)).toBe(mismatch);
    }
    expect(await verdict({ ...deliveries.old, signatures: '' }, secrets.old)).toBe('1 refused: header_missing');

    const old = '1 refused: timestamp_out_of_tolerance';
    expect(await verdict(signedAt(-330), secrets.old)).toBe(old);
    expect(await verdict(signedAt(330), secrets.old)).toBe(old);
    expect(await verdict(signedWith('later'), secrets.old)).toBe(old);
    const recent = signedAt(-200);
    expect(await verdict(recent, secrets.old)).toBe('accepted');
    const signatures = `v1a,${'A'.repeat(43)}= v1,${'A'.repeat(43)}= ${recent.signatures}`;
    expect(await verdict({ ...recent, signatures }, secrets.old)).toBe('accepted');
  });

  test('the samples settle the attempt of a pushed outcome once over a network that loses messages', async ({
    skip,
  }) => {
    if (missing.has(language)) return skip(missing.get(language));
    const [target, player] = [await newTarget(world.partner), await world.newPlayer()];
    const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
    const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const report = JSON.stringify({ attempt_id: id, score: 187.5, evidence: { name: 'Grüße 🏆' } });
    const push = (secret: string, baseUrl: string) => {
      const settings = { LAUREL_INTEGRATION_SECRET: secret, LAUREL_BASE_URL: baseUrl };
      return run(language, ['sign-push', target.id], report, settings);
    };

    await using wrong = await startScript(['pass']);
    expect(
      await push(
        target.secret.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
        wrong.baseUrl,
      ),
    ).toEqual({
      code: 1,
      output: '',
      errors: 'refused: 401 unauthorized',
    });
    expect(wrong.requests).toHaveLength(1);

    await using network = await startScript(['reset', 'lose', 'cut', 'pass']);
    const pushed = await push(target.secret, network.baseUrl);
    expect(pushed).toMatchObject({ code: 0, errors: '' });
    const { outcome } = expectStatus(200, await world.partner.getAttempt(id)).body;
    expect(JSON.parse(pushed.output)).toMatchObject({ attempt_id: id, score: 187.5, receipt_id: outcome?.receipt_id });
    expect(network.counts).toMatchObject({ reset: 1, lose: 1, cut: 1 });
    // A fee of 1.00 was charged, and a prize of 5.00 paid once.
    expect(await world.balance(player)).toBe('104.00');
  });

  describe('create an attempt', () => {
    const create = (body: string, key: string, baseUrl: string, more: Readonly<Record<string, string>> = {}) =>
      run(language, ['create-attempt', key], body, {
        LAUREL_API_KEY: world.partner.apiKey,
        LAUREL_BASE_URL: baseUrl,
        ...more,
      });

    const newEntry = async (funds = '100.00') => {
      const player = await world.newPlayer({ funds });
      const { id } = await world.newChallenge();
      return { player, body: JSON.stringify({ challenge_id: id, player_ref: player.ref, metadata: { map: 'Grüße' } }) };
    };

    test('the samples create an attempt for one fee, whatever the network loses', async ({ skip }) => {
      if (missing.has(language)) return skip(missing.get(language));
      const { player, body } = await newEntry();
      const key = randomUUID();
      await using network = await startScript(['reset', 'lose', IN_PROGRESS, 'pass']);
      const created = await create(body, key, network.baseUrl);
      expect(created).toMatchObject({ code: 0, errors: '' });
      // A process that died starts again with the idempotency key that it stored.
      await using later = await startScript([BROKEN, LIMITED, 'cut', 'pass']);
      expect(await create(body, key, later.baseUrl)).toEqual(created);

      const requests = [...network.requests, ...later.requests];
      expect(new Set(requests.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([key]));
      // The requests that follow the responses 409 and 429.
      for (const [, answered, repeated] of [network.requests.slice(1), later.requests]) {
        expect((repeated?.at ?? 0) - (answered?.at ?? 0)).toBeGreaterThan(990);
      }
      expect(JSON.parse(created.output)).toMatchObject({
        status: 'open',
        fee_charged: '1.00',
        metadata: { map: 'Grüße' },
      });
      expect(await world.balance(player)).toBe('99.00');
    });

    test('the samples stop after a refusal that the same request would get again', async ({ skip }) => {
      if (missing.has(language)) return skip(missing.get(language));
      const [poor, rich] = [await newEntry('0.50'), await newEntry()];
      const [poorKey, key] = [randomUUID(), randomUUID()];
      const refused = (what: string) => ({ code: 1, output: '', errors: `refused: ${what}` });
      await using network = await startScript([
        'pass',
        { status: 307, headers: { location: `${world.stack.baseUrl}/v1/attempts` } },
        'pass',
        'pass',
      ]);
      expect(await create(poor.body, poorKey, network.baseUrl)).toEqual(refused('402 insufficient_funds'));
      expect(await create(rich.body, key, network.baseUrl)).toEqual(refused('307'));
      expect(await world.balance(rich.player)).toBe('100.00');
      expect(await create(rich.body, key, network.baseUrl)).toMatchObject({ code: 0, errors: '' });
      const other = JSON.stringify({ ...JSON.parse(rich.body), metadata: {} });
      expect(await create(other, key, network.baseUrl)).toEqual(refused('409 idempotency_key_reused'));
      expect(network.requests).toHaveLength(4);
      expect([await world.balance(poor.player), await world.balance(rich.player)]).toEqual(['0.50', '99.00']);
    });

    test('the samples report when they do not know whether the fee was charged', async ({ skip }) => {
      if (missing.has(language)) return skip(missing.get(language));
      const { player, body } = await newEntry();
      const key = randomUUID();
      await using network = await startScript(['lose']);
      const ended = await create(body, key, network.baseUrl, { LAUREL_DEADLINE_SECONDS: '0.5' });
      expect(ended).toMatchObject({ code: 2, output: '', errors: expect.stringMatching(/^unanswered: \S/) });
      expect(network.requests.every(({ headers }) => headers['idempotency-key'] === key)).toBe(true);
      expect(await create(body, key, world.stack.baseUrl)).toMatchObject({ code: 0, errors: '' });
      expect(await world.balance(player)).toBe('99.00');
    });
  });
});

/** A delivery that Laurel could have sent at that time. An independent library signs it. */
function signedAt(seconds: number): Delivery {
  const at = new Date(Date.now() + 1_000 * seconds);
  const delivery = { id: randomUUID(), body: '{"event":"webhook.test","data":{"message":"Grüße 🏆"}}' };
  const signatures = new Webhook(secrets.old).sign(delivery.id, at, delivery.body);
  return { ...delivery, timestamp: String(Math.floor(at.getTime() / 1_000)), signatures };
}

/** A delivery whose timestamp is any text. */
function signedWith(timestamp: string): Delivery {
  const delivery = signedAt(0);
  const key = Buffer.from(secrets.old.replace('whsec_', ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${delivery.id}.${timestamp}.${delivery.body}`);
  return { ...delivery, timestamp, signatures: `v1,${hmac.digest('base64')}` };
}

function compareVersions(one: string, other: string): number {
  const [[oneMajor = 0, oneMinor = 0] = [], [otherMajor = Number.NaN, otherMinor = 0] = []] = [one, other].map(
    (version) => version.split('.').map(Number),
  );
  return oneMajor - otherMajor || oneMinor - otherMinor;
}
