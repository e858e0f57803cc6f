import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStack } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedDemo } from './seed.ts';

const DEMO = fileURLToPath(new URL('demo.ts', import.meta.url));

let dataDirectory: string;
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'laurel-demo-'));
});
afterAll(() => rm(dataDirectory, { recursive: true, force: true }));

async function playDemo(): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [DEMO], { env: { PATH: process.env.PATH, LAUREL_DATA_DIR: dataDirectory } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test('the demo says in one sentence that the stack is not running', async () => {
  const never = await playDemo();
  expect(never.code).toBe(1);
  expect(never.output.trim()).toMatch(/^The stack is not running \(no .*ready\.json\): run `npm start` .*\.$/);

  const ready = { base_url: 'http://127.0.0.1:9/v1', operator_token: 'a token of an operator' };
  await writeFile(join(dataDirectory, 'ready.json'), JSON.stringify(ready));
  const gone = await playDemo();
  expect(gone.code).toBe(1);
  expect(gone.output.trim()).toMatch(/^The stack is not running at http:\/\/127\.0\.0\.1:9: run `npm start` .*\.$/);
});

test('the demo plays again and again on one stack, and shows no key', async () => {
  await using stack = await startStack();
  const { baseUrl, operatorToken } = stack;
  const demo = await seedDemo({ baseUrl: `${baseUrl}/v1`, operatorToken });
  const ready = { base_url: `${baseUrl}/v1`, operator_token: operatorToken, demo };
  await writeFile(join(dataDirectory, 'ready.json'), JSON.stringify(ready));
  for (let time = 0; time < 2; time += 1) {
    const { code, output } = await playDemo();
    expect(code, output).toBe(0);
    expect(output).toMatch(/Done: demo-player-\w+ paid twice, won once, and has 22\.00 now\.\n$/);
    for (const secret of [operatorToken, demo.test_key, demo.live_key]) expect(output).not.toContain(secret);
  }
}, 60_000);
