import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';
import { REFUSED, RESTRICTED, refusalBy } from './refusals.ts';

/**
 * What can an attacker do who has the URL of the role that deletes archived months? The containers
 * have no such role: an operator creates it for a run (docs/operations/archive.md).
 */

let world: SharedWorld;

beforeAll(async () => {
  world = await joinWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const refusal = (statement: string) => refusalBy(world.stack.database('challenge').runningUrl, statement);

describe('the role that deletes archived months', () => {
  const archived = () => {
    const { archiveUrl } = world.stack.database('challenge');
    if (archiveUrl === undefined) throw new Error('the challenge service has no role of its archive');
    return archiveUrl;
  };

  test.each([
    'delete from attempts',
    'delete from outcomes',
    'truncate attempts cascade',
    "update attempts set status = 'voided'",
    'delete from awards',
    'insert into archived_attempts select from attempts',
    'delete from archived_attempts',
    'update archived_batches set digest = digest',
    'delete from archived_months',
    'alter table attempts drop constraint attempts_pkey',
    'create or replace function delete_archived_batch(text, integer) returns integer language sql as $$ select 1 $$',
    'create table loot (id int)',
    'select * from key_uses',
  ])('the role that deletes archived months is refused: %s', async (statement) => {
    expect(await refusalBy(archived(), statement)).toBe(REFUSED);
  });

  test('the role that deletes archived months can delete none that was not begun', async () => {
    const batch = "select delete_archived_batch('2025-12', 1)";
    expect(await refusalBy(archived(), batch)).toBe(RESTRICTED);
    expect(await refusal(batch)).toBe(REFUSED);
    expect(await refusal("select end_archived_month('2025-12')")).toBe(REFUSED);
    const begin = "select begin_archived_month('2025-12', '', '[]', '{}', '{}', '{}')";
    expect(await refusal(begin)).toBe(REFUSED);
    expect(await refusal("select archived_totals_differ('[]', gen_random_uuid(), gen_random_uuid())")).toBe(REFUSED);
  });
});
