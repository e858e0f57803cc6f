/**
 * The commands of the partner guide's first hour and of a signed push, and the sample of its sandbox,
 * run against a stack as they stand in docs/contract/partner-api.md.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Laurel } from '@laurel/sdk';
import { CHECKOUT, NODE } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTarget } from '../integrations/target.ts';
import { type Developer, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/contract/partner-api.md'), 'utf8');

/**
 * What the commands use of three tools, which a machine that runs these tests need not have. This
 * curl prints the status of each answer to standard error.
 */
const TOOLS = {
  curl: `let method, body, url;
    const headers = {};
    const argv = process.argv.slice(2);
    for (let arg = argv.shift(); arg !== undefined; arg = argv.shift()) {
      if (arg === '-s') continue;
      else if (arg === '-X') method = argv.shift();
      else if (arg === '-d') body = argv.shift();
      else if (arg === '-H') { const [name, ...value] = argv.shift().split(': '); headers[name] = value.join(': '); }
      else url = arg;
    }
    if (body !== undefined) headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
    const answer = await fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body });
    console.error(answer.status);
    console.log(await answer.text());`,
  jq: `const [, , , path] = process.argv;
    console.log(JSON.parse(readFileSync(0, 'utf8'))[path.slice(1)]);`,
  openssl: `const [, , , hash, , key] = process.argv;
    console.log('SHA2-256(stdin)= ' + createHmac(hash.slice(1), key).update(readFileSync(0)).digest('hex'));`,
};

let world: SharedWorld;
let developer: Developer;
let tools: string;
beforeAll(async () => {
  world = await joinWorld();
  developer = await world.newDeveloper();
  tools = mkdtempSync(join(tmpdir(), 'laurel-guide-'));
  for (const [name, code] of Object.entries(TOOLS)) {
    const imports = `import { createHmac } from 'node:crypto';\nimport { readFileSync } from 'node:fs';\n`;
    const tool = join(tools, name);
    writeFileSync(`${tool}.mjs`, `${imports}${code}\n`);
    writeFileSync(tool, `#!/bin/sh\nexec '${NODE}' '${tool}.mjs' "$@"\n`);
    chmodSync(tool, 0o755);
  }
});
afterAll(async () => {
  if (tools !== undefined) rmSync(tools, { recursive: true });
  await world?.[Symbol.asyncDispose]();
});

/** The code below a heading, block by block. */
function blocksBelow(heading: string, language = ''): readonly string[] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, written]) => written === language)
    .map(([, , text = '']) => text);
}

/** Runs the commands in a shell. Resolves with the status of each answer, and all printed lines. */
async function run(commands: string, values: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
  let filled = commands;
  for (const [name, value] of Object.entries(values)) filled = filled.replaceAll(`<${name}>`, value);
  expect(filled).not.toMatch(/<[\w -]+>/);
  const all = { ...process.env, PATH: `${tools}:${process.env.PATH}`, BASE: world.stack.baseUrl, ...env };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', filled], { env: all });
  return { statuses: stderr.trim().split('\n').map(Number), lines: stdout.trim().split('\n') };
}

describe('the first hour', () => {
  const blocks = blocksBelow('The first hour');
  const key = () => ({ KEY: developer.program.test.apiKey });

  test('has a command for a player, for an attempt, for its outcome and for a webhook', () => {
    expect(blocks).toHaveLength(4);
    expect(blocks.map((block) => block.match(/\bcurl\b/g)?.length)).toEqual([1, 2, 1, 3]);
  });

  test('a player with play money attempts a challenge, clears its bar and is paid; the same request again charges nothing', async () => {
    const [player = '', attempt = '', outcome = ''] = blocks;
    const { id } = await world.newChallenge({ threshold: 80 }, developer.program);
    const made = await run(player, {}, key());
    expect(made.statuses).toEqual([201]);
    expect(JSON.parse(made.lines[0] ?? '')).toMatchObject({ player_ref: 'player-1', linked: true });

    const begin = () => run(attempt, { 'id of a challenge': id }, key());
    const [first, again] = [await begin(), await begin()];
    expect([first.statuses, again.statuses]).toEqual([
      [200, 201],
      [200, 201],
    ]);
    const [listed, begun] = first.lines.map((line) => JSON.parse(line));
    expect(listed.data).toMatchObject([{ id, fee: '1.00' }]);
    expect(begun).toMatchObject({ challenge_id: id, player_ref: 'player-1', status: 'open', fee_charged: '1.00' });
    expect(again.lines[1]).toBe(first.lines[1]);

    const reported = await run(outcome, { 'id of the attempt': begun.id }, key());
    expect(reported.statuses).toEqual([200]);
    expect(JSON.parse(reported.lines[0] ?? '')).toMatchObject({
      attempt_id: begun.id,
      score: 87.5,
      met_threshold: true,
      award: { payout_status: 'paid' },
    });
  });

  test('a developer signs in, registers an endpoint, whose secret is shown, and has a test event sent', async () => {
    const [, , , webhook = ''] = blocks;
    const [register = '', send = ''] = webhook.split(/(?=^curl .*\/test )/m);
    const credentials = { 'your e-mail': developer.email, 'your password': developer.password };
    const made = await run(`${register}echo "$TOKEN"`, credentials, {});
    expect(made.statuses).toEqual([201, 201]);
    const endpoint = JSON.parse(made.lines[0] ?? '');
    expect(endpoint).toMatchObject({ events: [], active: true, signing_secret: expect.stringMatching(/^whsec_/) });
    const sent = await run(send, { 'id of the endpoint': endpoint.id }, { TOKEN: made.lines[1] ?? '' });
    expect(sent.statuses).toEqual([202]);
  });
});

test('the sample of the sandbox pays for an attempt and sees its fee come back', async () => {
  const [sample = ''] = blocksBelow('Testing in the sandbox', 'js');
  const module = `export default async (laurel, challenge) => {\n${sample}\nreturn [attempt.fee_charged, status];\n}`;
  const { default: play } = await import(`data:text/javascript,${encodeURIComponent(module)}`);
  const program = await world.newProgram();
  const laurel = new Laurel({ apiKey: program.test.apiKey, baseUrl: world.stack.baseUrl });
  expect(await play(laurel, await world.newChallenge({}, program))).toEqual(['1.00', 'expired']);
});

test('a body that is signed as the guide signs it is taken by an integration', async () => {
  const [push = ''] = blocksBelow('Pushed outcomes');
  const [target, player] = [await newTarget(world.partner), await world.newPlayer()];
  const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
  const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
  const values = { 'id of the attempt': id, 'id of the integration': target.id };
  const pushed = await run(push, values, { SECRET: target.secret });
  expect(pushed.statuses).toEqual([200]);
  expect(JSON.parse(pushed.lines[0] ?? '')).toMatchObject({ attempt_id: id, score: 87.5 });
});
