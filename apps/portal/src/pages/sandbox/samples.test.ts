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
  test('is the call of a partner with the real ids, by curl and by the SDK', () => {
    expect(textsOf(samplesOf(CREATE, ORIGIN))).toEqual([
      [
        `curl -sS --fail-with-body -X POST '${ORIGIN}/v1/attempts'`,
        '-H "X-API-Key: $LAUREL_TEST_KEY"',
        `-H 'Idempotency-Key: key-1'`,
        `-H 'Content-Type: application/json'`,
        `-d '{"challenge_id":"${CHALLENGE}","player_ref":"p-1"}'`,
      ].join(' \\\n  '),
      `await laurel.attempts.create({ challenge_id: '${CHALLENGE}', player_ref: 'p-1' }, { idempotencyKey: 'key-1' });`,
    ]);
  });

  test('a call of the sandbox goes to its own route, without a key of idempotency', () => {
    const [curl, sdk] = textsOf(samplesOf({ kind: 'hold-next-award', playerRef: 'a/b' }, ORIGIN));
    expect(curl).toContain(`'${ORIGIN}/api/sandbox/players/a%2Fb/hold-next-award'`);
    expect(curl).not.toContain('Idempotency-Key');
    expect(sdk).toBe(`await laurel.sandbox.holdNextAward('a/b');`);
  });

  test('law: a shell and JavaScript read any player ref as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (ref) => {
        fc.pre(!ref.includes('\0'));
        const body = { player_ref: ref };
        const [curl = '', sdk = ''] = textsOf(samplesOf({ kind: 'put-player', body }, ORIGIN));
        // The shell hands `-d` on to a program that prints its last argument.
        const shell = spawnSync('bash', ['-c', `curl() { printf %s "\${@: -1}"; }\n${curl}`], { encoding: 'utf8' });
        expect(JSON.parse(shell.stdout)).toEqual(body);
        const evaluate = new Function('laurel', `return async () => { ${sdk} }`);
        let sent: unknown;
        void evaluate({ sandbox: { createPlayer: (value: unknown) => (sent = value) } })();
        expect(sent).toEqual(body);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the script of all steps', () => {
  const [curl = '', sdk = ''] = textsOf(
    scriptsOf([{ call: PLAYER }, { call: CREATE, attemptId: ATTEMPT }, { call: REPORT }], ORIGIN),
  );

  test('plays with a player and attempts of its own, not with those of the visit', () => {
    for (const text of [curl, sdk]) {
      expect(text).toContain(CHALLENGE);
      expect(text).not.toContain(ATTEMPT);
      expect(text).not.toMatch(/__\w+__/);
      expect(text).not.toContain('key-1');
    }
    expect(sdk).toMatch(/const player1 = `p-1-\$\{run\}`;/);
    expect(sdk).toContain('laurel.attempts.reportOutcome(attempt1.id, { score: 120 })');
  });

  test('by curl hands the id of the created attempt on to the next call', () => {
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
