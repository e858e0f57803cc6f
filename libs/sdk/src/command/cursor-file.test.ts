import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommandError } from './command.ts';
import { CursorFile } from './cursor-file.ts';

const SCOPE = { base_url: 'https://a.example', forward_to: 'http://127.0.0.1/', events: null };
const WHOLE = { ...SCOPE, session: 's', start: { after: 'c' } };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cursor-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function readText(text: string) {
  const file = join(folder, 'listen.json');
  await writeFile(file, text);
  return await new CursorFile(file, SCOPE).read();
}

test('a stored position is read although the file has other members', async () => {
  expect(await readText(JSON.stringify(WHOLE))).toEqual({ after: 'c' });
  expect(await readText(JSON.stringify({ ...WHOLE, start: { after: 'c', from: 'now', more: 1 } }))).toEqual({
    after: 'c',
  });
  expect(await readText(JSON.stringify({ ...WHOLE, start: { from: 'oldest' } }))).toEqual({ from: 'oldest' });
});

test.each([
  ['', '{', 'null', '[]', '1', '"x"', '{}', JSON.stringify([WHOLE]), JSON.stringify(WHOLE).slice(0, -1)],
  [null, 1, 'c', [], {}, { after: null }, { after: '' }, { after: ['c'] }, { from: 'now' }].map((start) =>
    JSON.stringify({ ...WHOLE, start }),
  ),
  [1, 'attempt.settled', {}, [1], [null]].map((events) => JSON.stringify({ ...WHOLE, events })),
  [JSON.stringify(WHOLE).replace('"session":', '"session":"t","session":')],
])('a damaged file stops the command with one sentence, and stays unchanged: %#', async (...texts) => {
  for (const text of texts) {
    await expect(readText(text), text).rejects.toThrow(/is damaged: delete it/);
    expect(await readFile(join(folder, 'listen.json'), 'utf8')).toBe(text);
  }
});

test('reading a damaged file fails with an error message', async () => {
  const json = fc.jsonValue();
  const text = fc.oneof(
    fc.string(),
    json.map((value) => JSON.stringify(value)),
    fc.record({ start: json, events: json, session: json }).map((part) => JSON.stringify({ ...WHOLE, ...part })),
  );
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      expect(await readText(content).catch((error) => error)).toBeInstanceOf(CommandError);
    }),
    { numRuns: 200 },
  );
});
