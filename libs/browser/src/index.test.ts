import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import * as library from './index.ts';
import { PlayerClient } from './player-client.ts';

const BUDGET_BYTES = 3 * 1_024;
const SCORE = 987_654;

test('nothing that the library exports can send a score', async () => {
  expect(Object.keys(library).toSorted()).toEqual(['LaurelBrowserError', 'laurel']);
  expect(library.laurel).toBeInstanceOf(PlayerClient);

  const requests: { readonly url: string; readonly body: string | undefined }[] = [];
  const client = new PlayerClient();
  client.init({
    endpoint: '/laurel',
    storage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
    fetch: async (url, init) => {
      requests.push({ url: String(url), body: init?.body?.toString() });
      return Response.json({ id: 'a1', status: 'settled', data: [] });
    },
  });
  const report = { score: SCORE, tiebreak: SCORE, evidence: { score: SCORE }, outcome: { score: SCORE } };
  const names = Object.getOwnPropertyNames(PlayerClient.prototype);
  expect(names.toSorted()).toEqual(
    [
      ...['arm', 'begin', 'challenges', 'constructor', 'disarm', 'init', 'leaderboard'],
      ...['reportOutcome', 'result', 'state'],
    ].toSorted(),
  );
  const calls: readonly (readonly [name: string, ...given: unknown[]])[] = [
    ['challenges', report],
    ['leaderboard', 'r1', report],
    ['arm', { challengeId: 'c1', ...report }, report],
    ['begin', report],
    ['result', report],
    ['arm', { roundId: 'r1', ...report }, report],
    ['begin', report],
    ['disarm', report],
  ];
  for (const [name, ...given] of calls) await call(client, name, given);
  const sent = requests.length;
  await expect(call(client, 'reportOutcome', [report])).rejects.toMatchObject({ code: 'client_reporting_removed' });
  expect(requests.length).toBe(sent);
  expect(requests.map(({ url, body }) => [url, Object.keys(JSON.parse(body ?? '{}'))])).toEqual([
    ['/laurel/challenges', []],
    ['/laurel/rounds/r1/leaderboard', []],
    ['/laurel/attempts', ['arm_id', 'challenge_id']],
    ['/laurel/attempts/a1', []],
    ['/laurel/attempts', ['arm_id', 'tournament_round_id']],
  ]);
  expect(JSON.stringify(requests)).not.toContain(String(SCORE));
});

/** Calls the method with arguments that a page without TypeScript may pass. */
function call(client: PlayerClient, name: string, given: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(client, name);
  return typeof method === 'function' ? Reflect.apply(method, client, [...given]) : expect.fail(`${name} is no method`);
}

test('minified and compressed, the library weighs at most 3 KiB', async () => {
  await using build = await rolldown({ input: fileURLToPath(new URL('index.ts', import.meta.url)) });
  const { output } = await build.generate({ format: 'esm', minify: true });
  expect(output.length).toBe(1);
  const { code } = output[0];
  expect(code).not.toMatch(/\beval\b|new Function|innerHTML|document\.|\bimport\b/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(BUDGET_BYTES);
});
