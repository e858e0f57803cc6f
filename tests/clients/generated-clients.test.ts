/**
 * Clients that third-party generators make from the served documents: each compiles in a separate
 * strict project, and plays an attempt on a running stack. docs/openapi/README.md describes other
 * generators.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';
import { fetchGenerators, newProject, runIn } from './generators.ts';

/** The argument of a generated project's `play`, and its result. */
interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly challengeId: string;
  readonly playerRef: string;
  readonly idempotencyKey: string;
}
interface Played {
  readonly offered: readonly string[];
  readonly fee: string;
  readonly score: number;
  readonly payoutStatus: string | undefined;
  readonly refusal: string;
}

const SETTINGS_TYPE =
  'interface Settings { baseUrl: string; apiKey: string; challengeId: string; playerRef: string; idempotencyKey: string }';

const PLAY_WITH_HEY_API = `
import { createClient } from './partner/client/index.js';
import { createAttempt, listChallenges, reportOutcome } from './partner/sdk.gen.js';
import type { AttemptRequest, WebhookEvent } from './partner/types.gen.js';
import { putSandboxPlayer } from './own/sdk.gen.js';
${SETTINGS_TYPE}

export const amountOf = (event: WebhookEvent): number => (event.event === 'attempt.refunded' ? event.data.amount : 0);

export async function play({ baseUrl, apiKey, challengeId, playerRef, idempotencyKey }: Settings) {
  const client = createClient({ baseUrl, auth: apiKey });
  await putSandboxPlayer({ client, body: { player_ref: playerRef, funds: '100.00' }, throwOnError: true });
  const challenges = await listChallenges({ client, query: { player_ref: playerRef }, throwOnError: true });
  const body: AttemptRequest = { challenge_id: challengeId, player_ref: playerRef };
  const headers = { 'Idempotency-Key': idempotencyKey };
  const attempt = await createAttempt({ client, body, headers, throwOnError: true });
  const path = { attempt_id: attempt.data.id };
  const outcome = await reportOutcome({ client, path, body: { score: 100 }, headers, throwOnError: true });
  const refused = await reportOutcome({ client, path, body: { score: 1 }, headers: { 'Idempotency-Key': idempotencyKey + '2' } });
  const error = refused.error?.error;
  return {
    offered: challenges.data.data.map(({ id }) => id),
    fee: attempt.data.fee_charged,
    score: outcome.data.score,
    payoutStatus: outcome.data.award?.payout_status,
    refusal: typeof error === 'object' ? error.code : String(error),
  };
}
`;

const PLAY_WITH_OAZAPFTS = `
import * as partner from './partner.js';
import * as own from './own.js';
${SETTINGS_TYPE}

export async function play({ baseUrl, apiKey, challengeId, playerRef, idempotencyKey }: Settings) {
  for (const { defaults } of [partner, own]) {
    defaults.baseUrl = baseUrl;
    defaults.headers = { 'X-API-Key': apiKey };
  }
  await own.putSandboxPlayer({ player_ref: playerRef, funds: '100.00' });
  const challenges = await partner.listChallenges(playerRef);
  if (challenges.status !== 200) throw new Error('no list');
  const attempt = await partner.createAttempt(idempotencyKey, { challenge_id: challengeId, player_ref: playerRef });
  if (attempt.status !== 201) throw new Error('no attempt');
  const outcome = await partner.reportOutcome(attempt.data.id, idempotencyKey, { score: 100 });
  if (outcome.status !== 200) throw new Error('no outcome');
  const refused = await partner.reportOutcome(attempt.data.id, idempotencyKey + '2', { score: 1 });
  if (refused.status !== 409) throw new Error('not refused');
  return {
    offered: challenges.data.data.map(({ id }) => id),
    fee: attempt.data.fee_charged,
    score: outcome.data.score,
    payoutStatus: outcome.data.award?.payout_status,
    refusal: refused.data.error.code,
  };
}
`;

let world: SharedWorld;
let isFetched = false;
let documents: Record<'partner.json' | 'own.json', string>;
const folders: string[] = [];

beforeAll(async () => {
  isFetched = await fetchGenerators();
  world = await joinWorld();
  documents = { 'partner.json': await textAt('/openapi.json'), 'own.json': await textAt('/api/openapi.json') };
}, 420_000);
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await world?.[Symbol.asyncDispose]();
});

async function textAt(path: string): Promise<string> {
  const response = await fetch(`${world.stack.baseUrl}${path}`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  return await response.text();
}

/** Compiles the project, and plays with it. */
async function expectToPlay(folder: string): Promise<void> {
  await runIn(folder, 'tsc', ['-p', '.']);
  const { play } = (await import(`${folder}built/play.js`)) as { play: (settings: Settings) => Promise<Played> };
  const { id: challengeId } = await world.newChallenge();
  const played = await play({
    baseUrl: world.stack.baseUrl,
    apiKey: world.partner.apiKey,
    challengeId,
    playerRef: `generated-${randomUUID()}`,
    idempotencyKey: randomUUID(),
  });
  expect(played).toEqual({
    offered: expect.arrayContaining([challengeId]),
    fee: expect.stringMatching(/^\d+\.\d{2}$/),
    score: 100,
    payoutStatus: 'paid',
    refusal: 'attempt_already_settled',
  });
}

test('a client that hey-api generates from the served documents compiles strictly and plays an attempt', async (context) => {
  if (!isFetched) return context.skip('the generators could not be fetched: no registry of npm can be reached');
  const folder = newProject('hey-api', { ...documents, 'play.ts': PLAY_WITH_HEY_API });
  folders.push(folder);
  for (const name of ['partner', 'own']) {
    await runIn(folder, 'openapi-ts', ['-i', `${name}.json`, '-o', name, '--no-log-file']);
  }
  await expectToPlay(folder);
}, 240_000);

test('a client that oazapfts generates from the served documents compiles strictly and plays an attempt', async (context) => {
  if (!isFetched) return context.skip('the generators could not be fetched: no registry of npm can be reached');
  const folder = newProject('oazapfts', { ...documents, 'play.ts': PLAY_WITH_OAZAPFTS });
  folders.push(folder);
  for (const name of ['partner', 'own']) await runIn(folder, 'oazapfts', [`${name}.json`, `${name}.ts`]);
  await expectToPlay(folder);
}, 240_000);
