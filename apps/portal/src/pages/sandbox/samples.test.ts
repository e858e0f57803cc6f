import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SandboxCall } from './calls.ts';
import { samplesOf, scriptsOf } from './samples.ts';

const ORIGIN = 'http://laurel.example';
const CHALLENGE = '0198a000-0000-7000-8000-000000000001';
const ATTEMPT = '0198a000-0000-7000-8000-000000000002';

const PLAYER: SandboxCall = { kind: 'put-player', body: { player_ref: 'p-1', funds: '50.00' } };
const CREATE: SandboxCall = {
  kind: 'create-attempt',
  body: { challenge_id: CHALLENGE, player_ref: 'p-1' },
  idempotencyKey: 'key-1',
};
const REPORT: SandboxCall = { kind: 'report-outcome', attemptId: ATTEMPT, body: { score: 120 } };

function textsOf(samples: readonly { readonly text: string }[]): readonly string[] {
  return samples.map(({ text }) => text);
}

describe('one step', () => {
  test('the samples of a step call the API with the ids of the page', () => {
    expect(textsOf(samplesOf(CREATE, ORIGIN))).toEqual([
      [
        `curl -sS --fail-with-body -X POST '${ORIGIN}/v1/attempts'`,
        '-H "X-API-Key: $LAUREL_TEST_KEY"',
        `-H 'Idempotency-Key: key-1'`,
        `-H 'Content-Type: application/json'`,
        `--data-raw '{"challenge_id":"${CHALLENGE}","player_ref":"p-1"}'`,
      ].join(' \\\n  '),
      `await laurel.attempts.create({ challenge_id: '${CHALLENGE}', player_ref: 'p-1' }, { idempotencyKey: 'key-1' });`,
    ]);
  });

  test('the sample of a sandbox call has no Idempotency-Key', () => {
    const [curl, sdk] = textsOf(samplesOf({ kind: 'hold-next-award', playerRef: 'a/b' }, ORIGIN));
    expect(curl).toContain(`'${ORIGIN}/api/sandbox/players/a%2Fb/hold-next-award'`);
    expect(curl).not.toContain('Idempotency-Key');
    expect(sdk).toBe(`await laurel.sandbox.holdNextAward('a/b');`);
  });

  test('a shell and JavaScript read any player_ref of a sample unchanged', () => {
    const ref = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(ref, { minLength: 20, maxLength: 20 }), (refs) => {
        const bodies = refs.map((player_ref) => ({ player_ref }));
        const samples = bodies.map((body) => textsOf(samplesOf({ kind: 'put-player', body }, ORIGIN)));
        // In place of curl, the shell prints the last argument: the body.
        const curls = samples.map(([curl]) => curl).join('\n');
        const shell = spawnSync('bash', ['-c', `curl() { printf '%s\\n' "\${@: -1}"; }\n${curls}`], {
          encoding: 'utf8',
        });
        const printed = shell.stdout.trimEnd().split('\n');
        expect(printed.map((line) => JSON.parse(line))).toEqual(bodies);
        const sent: unknown[] = [];
        const laurel = { sandbox: { createPlayer: (body: unknown) => sent.push(body) } };
        for (const [, sdk = ''] of samples) new Function('laurel', sdk.replace(/^await /, ''))(laurel);
        expect(sent).toEqual(bodies);
      }),
      { numRuns: 4 },
    );
  });
});

describe('the script of all steps', () => {
  const [curl = '', sdk = ''] = textsOf(
    scriptsOf([{ call: PLAYER }, { call: CREATE, attemptId: ATTEMPT }, { call: REPORT }], ORIGIN),
  );

  test('the script of all steps creates its own player and attempts', () => {
    for (const text of [curl, sdk]) {
      expect(text).toContain(CHALLENGE);
      expect(text).not.toContain(ATTEMPT);
      expect(text).not.toMatch(/__\w+__/);
      expect(text).not.toContain('key-1');
    }
    expect(sdk).toMatch(/const player1 = `p-1-\$\{run\}`;/);
    expect(sdk).toContain('laurel.attempts.reportOutcome(attempt1.id, { score: 120 })');
  });

  test('in the script of all steps, a comment stands in place of each call that Laurel accepts only once', () => {
    const id = '01a21737-193b-806b-9ab3-a02eed48ebec';
    const once: readonly SandboxCall[] = [
      { kind: 'close-entries', roundId: id },
      { kind: 'close-round', roundId: id },
      { kind: 'retry-delivery', deliveryId: id },
    ];
    for (const call of once) {
      const texts = textsOf(scriptsOf([{ call: PLAYER }, { call }], ORIGIN));
      for (const text of texts) {
        expect(text).not.toContain(id);
        expect(text).toContain(' is left out: ');
        expect(text).toContain('p-1');
      }
    }
  });

  test('the curl script of all steps passes the id of the created attempt to the next call', () => {
    const fake = `curl() { for one in "$@"; do case "$one" in http*) echo "$one" >&2;; esac; done; printf '{"id":"made","challenge_id":"x"}'; }`;
    const { stderr, stdout, status } = spawnSync('bash', ['-c', `${fake}\n${curl}`], {
      encoding: 'utf8',
      env: { ...process.env, LAUREL_TEST_KEY: 'sk_test_x' },
    });
    expect(status).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      `${ORIGIN}/api/sandbox/players`,
      `${ORIGIN}/v1/attempts`,
      `${ORIGIN}/v1/attempts/made/outcome`,
    ]);
    expect(stdout).toContain('attempt made');
  });
});
