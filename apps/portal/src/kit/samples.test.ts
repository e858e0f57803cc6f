import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attemptSamples, curlOf, curlWith, sdkOf } from './samples.ts';

const ORIGIN = 'https://host.example';

test('the sample of a call is a curl command that reads the API key from a shell variable', () => {
  expect(
    curlOf(
      { method: 'POST', path: '/v1/players', headers: { 'Idempotency-Key': 'a' }, body: '{"player_ref":"it\'s"}' },
      'test',
      ORIGIN,
    ),
  ).toBe(
    [
      "curl -X POST 'https://host.example/v1/players'",
      '-H "X-API-Key: $LAUREL_TEST_KEY"',
      "-H 'Idempotency-Key: a'",
      "-H 'Content-Type: application/json'",
      `--data-raw '{"player_ref":"it'\\''s"}'`,
    ].join(' \\\n  '),
  );
  expect(curlWith('Authorization: Bearer $LAUREL_SESSION', { method: 'GET', path: '/a?b=1' }, ORIGIN)).toBe(
    `curl 'https://host.example/a?b=1' \\\n  -H "Authorization: Bearer $LAUREL_SESSION"`,
  );
});

test('a shell reads the body and the path of a sample as one word each, whatever characters they contain', () => {
  const word = fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', ' ', '\n', 'é', '(', '&', 'a') });
  fc.assert(
    fc.property(word, word, (path, body) => {
      const command = curlOf({ method: 'POST', path, body }, 'live', ORIGIN);
      // In place of curl, the shell prints the words that it would hand over.
      const script = `LAUREL_LIVE_KEY=k; curl() { printf '%s\\0' "$@"; }; ${command}`;
      const words = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0');
      expect(words).toEqual([
        ...['-X', 'POST', ORIGIN + path, '-H', 'X-API-Key: k'],
        ...['-H', 'Content-Type: application/json', '--data-raw', body, ''],
      ]);
    }),
    { numRuns: 30 },
  );
});

test('the SDK sample creates the client before it makes the calls', () => {
  expect(sdkOf('await laurel.tournaments.list();', 'live', ORIGIN)).toContain(
    "new Laurel({ apiKey: process.env.LAUREL_LIVE_KEY, baseUrl: 'https://host.example' });\nawait laurel.tournaments.list();",
  );
});

test('the sample of a create contains a fixed Idempotency-Key', () => {
  const [curl, sdk] = attemptSamples('test', { challenge_id: 'c-1', player_ref: "o'hara" }, ORIGIN);
  expect(curl?.text).toContain('--data-raw \'{"challenge_id":"c-1","player_ref":"o\'\\\'\'hara"}\'');
  expect(curl?.text).toContain("-H 'Idempotency-Key: match-1-c-1'");
  expect(sdk?.text).toContain("{ challenge_id: 'c-1', player_ref: 'o\\'hara' },\n  { idempotencyKey: 'match-1-c-1' },");
  expect(attemptSamples('test', { tournament_round_id: 'r-1' }, ORIGIN)[0]?.text).toContain(
    '{"tournament_round_id":"r-1","player_ref":"player-1"}',
  );
});
