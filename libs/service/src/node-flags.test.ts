import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_FLAGS, ONE_PROCESS_NODE_FLAGS } from './node-flags.ts';

test('the container images run services with the same Node flags', () => {
  const dockerfile = readFileSync(new URL('../../../deploy/docker/Dockerfile', import.meta.url), 'utf8');
  const flags = [...dockerfile.matchAll(/NODE_OPTIONS="?([^"\n\\]*)/g)].map(([, found]) => found?.trim());
  // The images of one service, then the image of all.
  expect(flags).toEqual([NODE_FLAGS.join(' '), ONE_PROCESS_NODE_FLAGS.join(' ')]);
});
