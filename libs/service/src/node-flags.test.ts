import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_FLAGS } from './node-flags.ts';

test('the container image runs services with the same Node flags', () => {
  const dockerfile = readFileSync(new URL('../../../deploy/docker/Dockerfile', import.meta.url), 'utf8');
  expect(/NODE_OPTIONS="?([^"\n\\]*)/.exec(dockerfile)?.[1]?.trim()).toBe(NODE_FLAGS.join(' '));
});
