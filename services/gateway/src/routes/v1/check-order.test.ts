import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { CHECK_ORDER, inCheckOrder } from './check-order.ts';

const CONTRACT = new URL('../../../../../docs/contract/partner-api.md', import.meta.url);

test('requests of /v1 are checked in the order that the contract states', async () => {
  const [, stated = ''] =
    /nothing after the first failure takes effect: ([^.]+)\./.exec(await readFile(CONTRACT, 'utf8')) ?? [];
  const statuses = (stated.match(/\d{3}/g) ?? []).map(Number);
  expect(statuses).toHaveLength(8);
  expect(CHECK_ORDER.flatMap(({ refusals }) => refusals)).toEqual(statuses);
});

test('the handlers of a /v1 route run in the order of the checks', () => {
  const [route, idempotencyLock, validation, admission] = [() => {}, () => {}, () => {}, () => {}];
  expect(inCheckOrder({ route, idempotencyLock, validation, admission })).toEqual([
    admission,
    validation,
    idempotencyLock,
    route,
  ]);
});
