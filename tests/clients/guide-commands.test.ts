/**
 * The commands of a signed push and the sandbox sample, run on a stack exactly as
 * docs/contract/partner-api.md shows them. quick-start.test.ts covers the quick start.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Laurel } from '@laurel/sdk';
import { CHECKOUT } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTarget } from '../integrations/target.ts';
import { expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { createGuideTools, type GuideTools } from './guide-tools.ts';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/contract/partner-api.md'), 'utf8');

let world: SharedWorld;
let tools: GuideTools;
beforeAll(async () => {
  world = await joinWorld();
  tools = createGuideTools();
});
afterAll(async () => {
  tools?.[Symbol.dispose]();
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

/**
 * Runs the commands in a shell. Resolves with the status of each response, and all printed lines.
 */
async function run(commands: string, values: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
  let filled = commands;
  for (const [name, value] of Object.entries(values)) filled = filled.replaceAll(`<${name}>`, value);
  expect(filled).not.toMatch(/<[\w -]+>/);
  const all = { ...process.env, PATH: tools.path, BASE: world.stack.baseUrl, ...env };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', filled], { env: all });
  return { statuses: stderr.trim().split('\n').map(Number), lines: stdout.trim().split('\n') };
}

test('the sandbox sample pays for an attempt and gets a refund', async () => {
  const [sample = ''] = blocksBelow('Testing in the sandbox', 'js');
  const module = `export default async (laurel, challenge) => {\n${sample}\nreturn [attempt.fee_charged, status];\n}`;
  const { default: play } = await import(`data:text/javascript,${encodeURIComponent(module)}`);
  const program = await world.newProgram();
  const laurel = new Laurel({ apiKey: program.test.apiKey, baseUrl: world.stack.baseUrl });
  expect(await play(laurel, await world.newChallenge({}, program))).toEqual(['1.00', 'expired']);
});

test('an integration accepts a body that is signed as in the guide', async () => {
  const [push = ''] = blocksBelow('Pushed outcomes');
  const [target, player] = [await newTarget(world.partner), await world.newPlayer()];
  const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
  const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
  const values = { 'id of the attempt': id, 'id of the integration': target.id };
  const pushed = await run(push, values, { SECRET: target.secret });
  expect(pushed.statuses).toEqual([200]);
  expect(JSON.parse(pushed.lines[0] ?? '')).toMatchObject({ attempt_id: id, score: 87.5 });
});
