/**
 * What a program's developer reads: the list of the program's challenges, page by page, and one
 * challenge.
 */

import { type Challenge, ChallengeStatus, PrizeStructure } from '@laurel/proto/challenge';
import { Environment, type Tenant } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { OTHER_PROGRAM, PROGRAM, useHarness } from '../challenge.fixture.ts';
import { createSamplesHarness } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);

const LIVE_PROGRAM: Tenant = { ...PROGRAM, environment: Environment.LIVE };
const MANY = 10_000;

interface Query {
  readonly tenant?: Tenant;
  readonly status?: ChallengeStatus;
  readonly limit?: number;
}

const page = (cursor: string, { tenant = PROGRAM, status = ChallengeStatus.UNSPECIFIED, limit = 200 }: Query = {}) =>
  h.challenge.listProgramChallenges({ tenant, status, cursor, limit });

async function pages(query: Query = {}): Promise<readonly (readonly Challenge[])[]> {
  const read: Challenge[][] = [];
  for (let cursor = ''; ; ) {
    const { challenges, nextCursor } = expectAccepted(await page(cursor, query));
    read.push(challenges);
    if (nextCursor === '') return read;
    cursor = nextCursor;
  }
}

const idsOf = (challenges: readonly Challenge[]) => challenges.map(({ id }) => id);

async function openIn(tenant: Tenant, terms: Partial<Challenge['terms']> = {}): Promise<Challenge> {
  const { terms: usual } = await h.open();
  if (usual === undefined) throw new Error('a challenge without terms');
  const request = { tenant, terms: { ...usual, ...terms }, status: ChallengeStatus.CALIBRATING, threshold: undefined };
  const { challenge } = expectAccepted(await h.challenge.createChallenge(request));
  return challenge ?? expect.fail('no challenge');
}

// Three challenges at a time share an instant, so that their ids decide the order.
const COPY = {
  text: `
insert into challenges
select (jsonb_populate_record(c, jsonb_build_object(
  'id', gen_random_uuid(), 'created_at', c.created_at + (n / 3) * interval '1 millisecond'))).*
from challenges c cross join generate_series(1, $2::int) as n where c.id = $1`,
};

describe('the list of a program’s challenges', () => {
  it('the list of a program shows the challenges of one environment, newest first', async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const opened: Challenge[] = [];
    for (let count = 0; count < 5; count += 1) {
      h.clock.advance(1);
      opened.push(await openIn(tenant));
    }
    const live = await openIn({ ...tenant, environment: Environment.LIVE });
    await openIn(OTHER_PROGRAM);
    const read = await pages({ tenant, limit: 2 });
    expect(read.flat()).toEqual(opened.toReversed());
    expect(read.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(await pages({ tenant: { ...tenant, environment: Environment.LIVE } })).toEqual([[live]]);
    expect(await pages({ tenant: { ...tenant, programId: newId() } })).toEqual([[]]);
  });

  it('the list of a program’s challenges can be filtered by the status that a challenge shows', async () => {
    const [live, suspended, calibrating] = [await h.open(), await h.open(), await s.open()];
    expectAccepted(
      await h.challenge.updateChallengeStatus({
        challengeId: suspended.id,
        status: ChallengeStatus.SUSPENDED,
        note: undefined,
      }),
    );
    const topN = { prizeStructure: PrizeStructure.TOP_N, topN: 2 };
    const [few, enough] = [await h.open(topN), await h.open(topN)];
    const player = await h.player();
    await s.score(few.id, player.ref, 1);
    for (const score of [1, 2]) await s.score(enough.id, player.ref, score);

    const shown = (await pages()).flat();
    const { CALIBRATING, LIVE, SUSPENDED, CLOSED } = ChallengeStatus;
    for (const status of [CALIBRATING, LIVE, SUSPENDED, CLOSED]) {
      const filtered = (await pages({ status, limit: 2 })).flat();
      expect(idsOf(filtered)).toEqual(idsOf(shown.filter((challenge) => challenge.status === status)));
    }
    const statusOf = (id: string) => shown.find((challenge) => challenge.id === id)?.status;
    const ids = idsOf([live, suspended, calibrating, few, enough]);
    expect(ids.map(statusOf)).toEqual([LIVE, SUSPENDED, CALIBRATING, CALIBRATING, LIVE]);
  });

  it(`the list of a program’s challenges returns ${MANY} challenges page by page, each once and in order`, async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const first = await openIn(tenant);
    await h.database.query(COPY, [first.id, MANY - 1]);
    const read = await pages({ tenant });
    expect(read).toHaveLength(MANY / 200);
    const listed = read.flat();
    expect(new Set(idsOf(listed)).size).toBe(MANY);
    const keys = listed.map(({ id, createdAt }) => `${createdAt?.toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
    expect(await pages({ tenant, status: ChallengeStatus.CLOSED })).toEqual([[]]);
  }, 60_000);

  it('the list of a program’s challenges refuses an invalid cursor', async () => {
    for (const cursor of ['nonsense', newId(), Buffer.from('["a","b"]').toString('base64url')]) {
      expect(await page(cursor)).toMatchObject({ code: 'invalid_request' });
    }
  });
});

describe('a challenge of a program', () => {
  it('a program finds its challenges in either environment', async () => {
    for (const challenge of [await h.open(), await openIn(LIVE_PROGRAM)]) {
      const { programId } = PROGRAM;
      const request = { programId, challengeId: challenge.id };
      expect(expectAccepted(await h.challenge.getProgramChallenge(request))).toEqual({ challenge });
    }
  });

  it('a challenge of another program is not found', async () => {
    const { id: challengeId } = await h.open();
    const { programId } = OTHER_PROGRAM;
    for (const request of [
      { programId, challengeId },
      { programId: PROGRAM.programId, challengeId: newId() },
    ]) {
      expect(await h.challenge.getProgramChallenge(request)).toMatchObject({ code: 'not_found' });
      expect(await h.challenge.getChallengeStatistics({ ...request, bins: 30, anyProgram: false })).toMatchObject({
        code: 'not_found',
      });
    }
  });
});
