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

/** The table of what each service pays, and a range as its totals take one. */
const OWN = {
  challenge: { awards: 'awards', range: 'gen_random_uuid(), gen_random_uuid()' },
  tournament: { awards: 'round_payouts', range: 'now(), now()' },
} as const;

describe.each(['challenge', 'tournament'] as const)('the role that deletes archived months of %ss', (service) => {
  const refusal = (statement: string) => refusalBy(world.stack.database(service).runningUrl, statement);
  const archived = () => {
    const { archiveUrl } = world.stack.database(service);
    if (archiveUrl === undefined) throw new Error(`the ${service} service has no role of its archive`);
    return archiveUrl;
  };

  test.each([
    'delete from attempts',
    'delete from outcomes',
    'truncate attempts cascade',
    "update attempts set status = 'voided'",
    `delete from ${OWN[service].awards}`,
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
    expect(await refusal(`select archived_totals_differ('[]', ${OWN[service].range})`)).toBe(REFUSED);
  });
});
