import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NODE } from './checkout.ts';
import { removeLeftovers } from './leftovers.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'laurel-testing-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

test('the folder of an ended process is removed after its server is stopped', async () => {
  const child = spawn(NODE, ['-e', '']);
  await once(child, 'exit');
  const left = `kind-${child.pid}-a1`;
  // The last three names: a random name that begins with digits, another kind, and a name without a
  // process id.
  const others = [`kind-${process.pid}-a1`, `kind-${child.pid}a1`, `other-${child.pid}-a1`, 'kind-'];
  for (const name of [left, ...others]) mkdirSync(join(parent, name));
  const stopped: string[] = [];
  await removeLeftovers('kind-', async (directory) => void stopped.push(basename(directory)), parent);
  expect(stopped).toEqual([left]);
  expect(readdirSync(parent).sort()).toEqual(others.sort());
});
