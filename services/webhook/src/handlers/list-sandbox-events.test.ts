/**
 * The log of a sandbox: what it contains, and that a reader with a cursor gets each event exactly
 * once, in whatever order the writers commit.
 */

import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner } from '@laurel/proto/events';
import { SandboxEventsStart } from '@laurel/proto/webhook';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConsumeEvents } from '../consumers/consume-events.ts';
import { useHarness } from '../webhook.fixture.ts';
import { createDeleteOldRows } from '../workers/delete-old-rows.ts';

const h = useHarness();
const DAY_MS = 86_400_000;

function suspended(programId: string, environment: Environment = Environment.TEST): Event {
  const occurredAt = h.clock();
  return {
    id: newId(occurredAt),
    occurredAt,
    tenant: { programId, environment },
    owner: Owner.CHALLENGE,
    payload: { $case: 'challengeSuspended', value: { challengeId: newId(occurredAt), name: 'Hard „mode“' } },
  };
}

const list = (programId: string, cursor = '', limit = 200, start: SandboxEventsStart = SandboxEventsStart.OLDEST) =>
  h.webhook.listSandboxEvents({ tenant: { programId, environment: Environment.TEST }, cursor, start, limit });

/** Everything after the cursor, page by page, and the cursor at its end. */
async function readOn(programId: string, cursor: string, limit: number): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = [];
  for (let next = cursor; ; ) {
    const page = expectAccepted(await list(programId, next, limit));
    ids.push(...page.events.map(({ id }) => id));
    if (page.events.length === 0) return { ids, cursor: page.nextCursor };
    next = page.nextCursor;
  }
}

const idsOf = (events: readonly Event[]) => events.map(({ id }) => id);

describe('the log of a sandbox', () => {
  it('the log of a sandbox has each event once, in order, with the bytes of its deliveries', async () => {
    const { endpoint, developerId } = await h.createEndpoint({ programIds: [newId()] });
    const programId = newId();
    await h.webhook.putProgram({ programId, developerId, version: 0n });
    const events = [suspended(programId), suspended(programId), suspended(programId)];
    const start = expectAccepted(await list(programId)).nextCursor;
    await h.server.consume(events.slice(0, 2));
    await h.server.consume(events);

    const page = expectAccepted(await list(programId, start));
    expect(page.events.map(({ id, event }) => [id, event])).toEqual(
      idsOf(events).map((id) => [id, 'challenge.suspended']),
    );
    const stored = await h.database.query<{ event_id: string; body: Buffer }>(
      { text: 'select event_id, body from deliveries where endpoint_id = $1' },
      [endpoint.id],
    );
    expect(new Map(page.events.map(({ id, body }) => [id, body]))).toEqual(
      new Map(stored.map(({ event_id, body }) => [event_id, body.toString('utf8')])),
    );
    expect(expectAccepted(await list(programId, page.events[0]?.cursor)).events).toEqual(page.events.slice(1));
    expect(page.events.at(-1)?.cursor).toBe(page.nextCursor);
    expect(JSON.parse(page.events[0]?.body ?? '')).toMatchObject({ data: { name: 'Hard „mode“', test: true } });
  });

  it('the log of a sandbox has all events of its own program and no live events', async () => {
    const [one, other] = [newId(), newId()];
    const mine = [suspended(one), suspended(one)];
    const theirs = suspended(other);
    await h.server.consume([...mine, theirs, suspended(one, Environment.LIVE)]);
    expect((await readOn(one, '', 1)).ids).toEqual(idsOf(mine));
    expect((await readOn(other, '', 1)).ids).toEqual([theirs.id]);
    const [live] = await h.database.query<{ count: bigint }>(
      {
        text: 'select count(*) from sandbox_events where program_id <> all ($1::uuid[])',
      },
      [[one, other]],
    );
    await h.server.consume([suspended(newId(), Environment.LIVE)]);
    expect(
      await h.database.query({ text: 'select count(*) from sandbox_events where program_id <> all ($1::uuid[])' }, [
        [one, other],
      ]),
    ).toEqual([live]);
  });

  it('a reader that starts from now gets only later events', async () => {
    const programId = newId();
    await h.server.consume([suspended(programId)]);
    const now = expectAccepted(await list(programId, '', 200, SandboxEventsStart.NOW));
    expect(now.events).toEqual([]);
    const next = suspended(programId);
    await h.server.consume([next]);
    expect((await readOn(programId, now.nextCursor, 200)).ids).toEqual([next.id]);
    expect(expectAccepted(await list(programId, '', 200, SandboxEventsStart.UNSPECIFIED)).events).toEqual([]);
  });

  it('a cursor of another program or of another list is refused', async () => {
    const programId = newId();
    await h.server.consume([suspended(programId)]);
    const { nextCursor } = expectAccepted(await list(programId));
    const refusal = { code: 'invalid_request' };
    expect(await list(newId(), nextCursor)).toMatchObject(refusal);
    expect(await list(programId, 'nonsense')).toMatchObject(refusal);
    expect(await list(programId, Buffer.from(JSON.stringify([programId, '2'])).toString('base64url'))).toMatchObject(
      refusal,
    );
  });

  it('a cursor older than the 3 days for which events are kept is refused', async () => {
    const programId = newId();
    const start = expectAccepted(await list(programId)).nextCursor;
    const runOnce = createDeleteOldRows({ database: h.database, logRetentionDays: 30 });
    await h.server.consume([suspended(programId), suspended(programId)]);
    const seen = expectAccepted(await list(programId, start, 1)).nextCursor;
    h.clock.advance(DAY_MS);
    const young = suspended(programId);
    await h.server.consume([young]);
    h.clock.advance(2 * DAY_MS + 1);
    const before = expectAccepted(await list(programId, start, 2)).nextCursor;
    await runOnce(h.clock());

    for (const cursor of [start, seen])
      expect(await list(programId, cursor)).toMatchObject({ code: 'invalid_request' });
    expect((await readOn(programId, before, 1)).ids).toEqual([young.id]);
    const oldest = await readOn(programId, '', 200);
    expect(oldest.ids).toEqual([young.id]);
    h.clock.advance(3 * DAY_MS);
    await runOnce(h.clock());
    expect(await readOn(programId, oldest.cursor, 1)).toEqual({ ids: [], cursor: oldest.cursor });
  });
});

/** A consumer on its own connection, whose transactions commit late or not at all. */
function consumerThat(end: () => Promise<'commit' | 'roll back'>) {
  const database: Pick<Database, 'write'> = {
    write: (statement, values) =>
      h.database.transaction(async (tx) => {
        const rows = await tx.query(statement, values);
        if ((await end()) === 'roll back') throw new Error('rolled back');
        // biome-ignore lint/suspicious/noExplicitAny: the rows of any statement
        return rows as any;
      }),
  };
  return createConsumeEvents({ database, dispatcher: { wake: () => undefined }, clock: h.clock });
}

it('a reader gets every committed event exactly once, in whatever order concurrent transactions end', async () => {
  const plan = fc.array(
    fc.record({
      events: fc.array(fc.nat(2), { minLength: 1, maxLength: 6 }),
      reads: fc.nat(4),
      isRolledBack: fc.boolean(),
      isRepeated: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(plan, fc.integer({ min: 1, max: 3 }), async (batches, limit) => {
      const programs = [newId(), newId(), newId()];
      const read: Record<string, string[]> = {};
      const cursors: Record<string, string> = {};
      let reads = 0;
      const waiting: (() => void)[] = [];
      const readAll = async () => {
        for (const programId of programs) {
          const page = await readOn(programId, cursors[programId] ?? '', limit);
          read[programId] = [...(read[programId] ?? []), ...page.ids];
          cursors[programId] = page.cursor;
        }
        reads += 1;
        for (const wake of waiting.splice(0)) wake();
      };
      const afterReads = async (count: number) => {
        for (const until = reads + count; reads < until; ) await new Promise<void>((resolve) => waiting.push(resolve));
      };

      const committed: Event[] = [];
      const runs = batches.map(async ({ events: of, reads: late, isRolledBack, isRepeated }) => {
        const events = of.map((program) => suspended(programs[program] ?? ''));
        const end = async () => {
          await afterReads(late);
          return isRolledBack ? ('roll back' as const) : ('commit' as const);
        };
        const [first] = await Promise.allSettled([
          consumerThat(end)(events),
          ...(isRepeated && !isRolledBack ? [consumerThat(end)(events.toReversed())] : []),
        ]);
        if (first.status === 'fulfilled') committed.push(...events);
      });
      let areWriting = true;
      const written = Promise.all(runs).then(() => {
        areWriting = false;
      });
      while (areWriting) await readAll();
      await written;
      await readAll();

      for (const programId of programs) {
        const expected = committed.filter(({ tenant }) => tenant?.programId === programId);
        expect(read[programId]?.toSorted()).toEqual(idsOf(expected).toSorted());
      }
    }),
    { numRuns: 10 },
  );
});
