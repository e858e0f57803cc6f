/**
 * The first programs of the SDK's README, copied as a partner would: into a project with the packed
 * SDK, run by Node on a stack.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, NODE } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type Program, type SharedWorld } from '../world.ts';
import { createPartnerProject, type PartnerProject } from './partner-project.ts';

const README = readFileSync(join(CHECKOUT, 'libs/sdk/README.md'), 'utf8');

/** Calls the README's `enter` for a player who cannot pay, and for one who can. */
const ENTER = `
import { Laurel } from '@laurel/sdk';
import { enter } from './enter.mjs';

const laurel = new Laurel({ apiKey: process.env.LAUREL_API_KEY, baseUrl: process.env.LAUREL_BASE_URL });
const [challenge_id] = process.argv.slice(2);
for (const [player_ref, funds] of [['poor', '0.50'], ['rich', '5.00']]) {
  await laurel.sandbox.createPlayer({ player_ref, funds });
  const entered = await enter(laurel, { challenge_id, player_ref }, player_ref + '-enters');
  console.log(entered.status ?? entered);
}
`;

describe('the first programs of the README', () => {
  let world: SharedWorld;
  let project: PartnerProject;
  beforeAll(async () => {
    world = await joinWorld();
    project = await createPartnerProject();
    for (const name of ['play.mjs', 'expire.mjs', 'enter.mjs']) writeFileSync(join(project.folder, name), sample(name));
    writeFileSync(join(project.folder, 'try-enter.mjs'), ENTER);
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  /** Runs a file with the test key of the program. Returns the lines that it prints. */
  async function linesOf(program: Program, file: string, ...args: readonly string[]): Promise<readonly string[]> {
    const env = { ...process.env, LAUREL_BASE_URL: world.stack.baseUrl, LAUREL_API_KEY: program.test.apiKey };
    const { stdout } = await promisify(execFile)(NODE, [file, ...args], { cwd: project.folder, env });
    return stdout.trimEnd().split('\n');
  }

  test('play.mjs creates a sandbox player, pays for an attempt and wins its prize', async () => {
    const program = await world.newProgram();
    await world.newChallenge({ threshold: 80 }, program);
    expect(await linesOf(program, 'play.mjs')).toEqual(['Reach one hundred 1.00 5.00', 'paid']);
  });

  test('play.mjs reports a sandbox without challenges', async () => {
    const program = await world.newProgram();
    await expect(linesOf(program, 'play.mjs')).rejects.toThrow('player-1 may attempt no challenge now');
  });

  test('expire.mjs pays for an attempt and lets it expire', async () => {
    const program = await world.newProgram();
    await world.newChallenge({}, program);
    expect(await linesOf(program, 'expire.mjs')).toEqual(['expired']);
  });

  test('enter.mjs prints what the player can do about a refusal', async () => {
    const program = await world.newProgram();
    const { id } = await world.newChallenge({}, program);
    expect(await linesOf(program, 'try-enter.mjs', id)).toEqual(['top up first', 'open']);
  });
});

/** The code block of the README that begins with the name. */
function sample(name: string): string {
  const block = README.split('```js\n').find((text) => text.startsWith(`// ${name}\n`));
  if (block === undefined) throw new Error(`the README has no ${name}`);
  return block.slice(0, block.indexOf('\n```') + 1);
}
