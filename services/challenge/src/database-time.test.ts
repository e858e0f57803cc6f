import { AttemptStatus } from '@laurel/proto/attempts';
import { newOwnedId } from '@laurel/values/ids';
import { afterEach, expect, it, vi } from 'vitest';
import { HOUR_MS, PROGRAM, useHarness } from './challenge.fixture.ts';

const harness = useHarness();

/** Replaces PostgreSQL's clock function in sessions that begin after this call. */
async function breakClock(): Promise<void> {
  await harness.database.batch([
    {
      statement: {
        text: `create function public.clock_timestamp() returns timestamptz language plpgsql volatile as
               $$ begin raise exception 'this database has no clock'; end $$`,
      },
    },
    {
      statement: {
        text: `do $$ begin
                 execute format('alter database %I set search_path = public, pg_catalog', current_database());
               end $$`,
      },
    },
  ]);
}

async function mendClock(): Promise<void> {
  await harness.database.query({
    text: `create or replace function public.clock_timestamp() returns timestamptz language sql volatile as
           $$ select pg_catalog.clock_timestamp() $$`,
  });
}

afterEach(mendClock);

it('the challenge service is not ready while the database time is unknown', async () => {
  const { challenge, attempt } = await harness.openAttempt();
  const playerRef = 'a patient player';
  await harness.player(playerRef);
  // The sweep writes the attempt's status `open`.
  await harness.server.sweepOnce();
  await breakClock();
  await using replica = await harness.startReplica({ byDatabase: true });
  // The attempt's deadline has passed by every clock.
  const text = 'update attempts set created_at = $2 where id = $1';
  await harness.database.query({ text }, [attempt.id, new Date(Date.now() - HOUR_MS)]);
  const isReady = async () => (await fetch(`http://127.0.0.1:${replica.server.adminPort}/readyz`)).status === 200;
  const attemptId = newOwnedId('challenge');
  const create = () =>
    replica.challenge.createAttempts({
      creations: [
        {
          attemptId,
          requestId: '',
          keyUse: undefined,
          tenant: PROGRAM,
          contestId: challenge.id,
          playerRef,
          metadataJson: '',
        },
      ],
    });

  expect(await isReady()).toBe(false);
  await expect(replica.server.sweepOnce()).rejects.toThrow("the database's time is not known");
  await expect(replica.challenge.getAttempt({ attemptId: attempt.id, tenant: PROGRAM })).rejects.toThrow();
  const refused = await create();
  expect(refused).toMatchObject({ results: [{ result: { $case: 'failure' } }] });
  const status = { text: 'select status from attempts where id = $1' };
  expect(await harness.database.query(status, [attempt.id])).toEqual([{ status: 'open' }]);

  await mendClock();
  await vi.waitUntil(isReady, { timeout: 5_000 });
  await replica.server.sweepOnce();
  const ended = await replica.challenge.getAttempt({ attemptId: attempt.id, tenant: PROGRAM });
  expect(ended).toMatchObject({ attempt: { status: AttemptStatus.EXPIRED } });
  expect(await create()).toMatchObject({ results: [{ result: { $case: 'attempt' } }] });
});
