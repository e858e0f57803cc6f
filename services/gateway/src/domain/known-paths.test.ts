import { expect, test } from 'vitest';
import { KnownPaths } from './known-paths.ts';

const known = new KnownPaths([
  { method: 'get', path: '/attempts/{attempt_id}' },
  { method: 'post', path: '/attempts' },
  { method: 'post', path: '/attempts/{attempt_id}/outcome' },
  { method: 'patch', path: '/attempts/{attempt_id}' },
]);

test.each([
  ['/attempts', ['POST']],
  ['/attempts/1', ['GET', 'HEAD', 'PATCH']],
  ['/attempts/%', ['GET', 'HEAD', 'PATCH']],
  ['/attempts/1/outcome', ['POST']],
  ['/attempts/', []],
  ['/attempts//outcome', []],
  ['/attempts/1/', []],
  ['/attempts/1/outcomes', []],
  ['/Attempts', []],
  ['/', []],
])('the path %s takes the methods %j', (path, methods) => {
  expect(known.methodsOf(path)).toEqual(methods);
});
