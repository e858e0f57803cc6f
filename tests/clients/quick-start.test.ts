/**
 * Runs every command and program of docs/contract/quick-start.md in the page's order, in one shell,
 * on a stack: once with the SDK, and once with curl. Only the two ports differ from the page. Also
 * runs the command of README.md, and checks the output that both pages show.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, freePorts } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world.ts';
import { createGuideTools, type GuideTools } from './guide-tools.ts';

type Tab = 'SDK' | 'curl';

interface Block {
  readonly language: string;
  /** The tab of the block, if it is in one. */
  readonly tab: string | undefined;
  readonly code: string;
}

const PAGE = blocksOf('docs/contract/quick-start.md');
const SPRINT = {
  name: 'High score sprint',
  description: 'Score 1,000 points or more in one run.',
  fee: '1.00',
  prize: '4.00',
  threshold: 1_000,
  metric_name: 'score',
  metric_unit: 'points',
};
const RUN_LIMIT_MS = 120_000;

let world: World;
let tools: GuideTools;
let folder: string;
beforeAll(async () => {
  tools = createGuideTools();
  folder = mkdtempSync(join(tmpdir(), 'laurel-quick-start-'));
  world = await startWorld();
});
afterAll(async () => {
  tools?.[Symbol.dispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true });
  await world?.[Symbol.asyncDispose]();
});

/** A data folder as `npm start` leaves it, with a separate demo program. */
async function newDataFolder(): Promise<string> {
  const data = mkdtempSync(join(folder, 'data-'));
  const developer = await world.newDeveloper();
  await world.newChallenge(SPRINT, developer.program);
  const tournament = await world.newTournament({}, developer.program);
  await world.openRound(tournament.id);
  const { certificate, key } = await world.stack.ca.issue({ names: ['localhost', '127.0.0.1'] });
  const files = { receiver_certificate: join(data, 'certificate.pem'), receiver_key: join(data, 'key.pem') };
  writeFileSync(files.receiver_certificate, certificate);
  writeFileSync(files.receiver_key, key);
  const ready = {
    base_url: world.stack.baseUrl,
    operator_token: world.stack.operatorToken,
    demo: {
      program_id: developer.program.id,
      test_key: developer.program.test.apiKey,
      developer: { email: developer.email, password: developer.password },
    },
    webhook_ca: files,
  };
  writeFileSync(join(data, 'ready.json'), JSON.stringify(ready));
  return data;
}

/** Follows the page like a reader of this tab; returns the output, and curl's statuses. */
async function follow(tab: Tab, data: string): Promise<{ output: string; statuses: readonly string[] }> {
  const ports = await freePorts(2);
  const script = PAGE.flatMap((block) => commandsFor(tab, block))
    .join('\n')
    .replace('PORT=3000', `PORT=${ports[0]}`)
    .replace('ENDPOINT_PORT=9443', `ENDPOINT_PORT=${ports[1]}`);
  const ending = `trap 'kill $RECEIVER $LISTEN $ENDPOINT_SERVER 2> ending.log || true' EXIT\n`;
  const env = { ...process.env, PATH: tools.path, TMPDIR: data, LAUREL_DATA_DIR: data };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', ending + script], { cwd: CHECKOUT, env });
  return { output: stdout, statuses: stderr.match(/^\d{3}$/gm) ?? [] };
}

function commandsFor(tab: Tab, { language, tab: own, code }: Block): readonly string[] {
  const [, program] = /^\/\/ (\w+\.mjs)\n/.exec(code) ?? [];
  if (program !== undefined) return [`cat > ${program} <<'END_OF_PROGRAM'\n${code}END_OF_PROGRAM`];
  if (language !== 'sh' || (own !== undefined && own !== tab)) return [];
  // A reader of the curl tab does with curl what these programs of the other tab do.
  return [tab === 'curl' ? code.replace(/^node (?:play|seed|round|push)\.mjs\n/m, '') : code];
}

/** Turns both `{ "score": 1 }` and `{ score: 1 }` into `{score:1}`. */
const compact = (text: string) => text.replace(/["'\s]/g, '');

describe.each<Tab>(['SDK', 'curl'])('the quick start, by its tab %s', (tab) => {
  test(
    'a player wins a prize that the verified webhook states as a number',
    async () => {
      const { output, statuses } = await follow(tab, await newDataFolder());
      const text = compact(output);
      // The outcome has payout_status; a read of the attempt has only paid_at.
      expect(text).toMatch(
        /met_threshold:true,[^{]*award:\{id:[\w-]+,amount:4\.00,paid_at:[\w:.-]+,payout_status:paid\}/,
      );
      expect(text).toMatch(
        /status:settled,[^{]*metadata:\{\},outcome:\{[^{]*award:\{id:[\w-]+,amount:4\.00,paid_at:[\w:.-]+\}/,
      );
      expect(output).toMatch(/event: 'attempt.settled'[\s\S]*amount: 4,\n\s*payout_status: 'paid'/);
      // The page prints an event with these members.
      const [arrived = ''] = /^\{\n {2}event: 'attempt.settled'[\s\S]*?^\}$/m.exec(output) ?? [];
      const printed = PAGE.find(({ code }) => code.startsWith("{\n  event: 'attempt.settled'"))?.code ?? '';
      expect(shapeOf(await literalOf(arrived))).toEqual(shapeOf(await literalOf(printed)));
      // What the page shows: the endpoint, the challenge of a new game, the round, the push, the
      // poll.
      expect(text).toMatch(/signing_secret:whsec_[0-9a-f]{64}/);
      expect(text).toMatch(/name:Perfectlanding,description:null,fee:0\.50,prize:5\.00,currency:USD,status:live/);
      expect(text).toMatch(/rank:1,player_ref:player-\d+,best_score:72\.5/);
      expect(text).toMatch(/score:62,met_threshold:false/);
      expect(text).toMatch(/kind:poll,[\s\S]*status:settled/);
      expect(statuses.length).toBeGreaterThan(10);
      expect(statuses.filter((status) => !status.startsWith('2'))).toEqual([]);
    },
    RUN_LIMIT_MS,
  );
});

test('the command of README.md shows a challenge with the members that README.md prints', async () => {
  const [command, printed] = blocksOf('README.md').filter(({ language }) => language === 'sh' || language === 'js');
  const checkout = mkdtempSync(join(folder, 'checkout-'));
  mkdirSync(join(checkout, '.laurel'));
  writeFileSync(join(checkout, '.laurel/ready.json'), readFileSync(join(await newDataFolder(), 'ready.json')));
  const here = command?.code.replace('http://127.0.0.1:8080', world.stack.baseUrl) ?? '';
  const env = { ...process.env, PATH: tools.path };
  const { stdout } = await promisify(execFile)('sh', ['-ec', here], { cwd: checkout, env });
  expect(shapeOf(await literalOf(printed?.code ?? ''))).toEqual(shapeOf(await literalOf(stdout)));
});

function blocksOf(file: string): readonly Block[] {
  const blocks = readFileSync(join(CHECKOUT, file), 'utf8').matchAll(/^```(\w*)(?: \[(\w+)\])?\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = '', tab, code = '']) => ({ language, tab, code }));
}

/** The value of a literal in Node's notation. */
async function literalOf(literal: string): Promise<unknown> {
  return (await import(`data:text/javascript,export default ${encodeURIComponent(literal)}`)).default;
}

/** An object with the types of its members as values. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
