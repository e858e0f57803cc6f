/**
 * The open attempts that FindOpenAttempts finds: of which player, until when, and that it reads by
 * index.
 */

import { ChallengeStatus } from '@laurel/proto/challenge';
import type { Tenant } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  created,
  HOUR_MS,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  useReplica,
  verdictOf,
} from '../challenge.fixture.ts';
import { OPEN_CANDIDATES } from '../repository/open-attempts.ts';

const h = useHarness();
const other = useReplica(h);

async function find(challengeId: string, playerRef: string, { client = h.challenge, tenant = PROGRAM as Tenant } = {}) {
  const query = { tenant, playerRef, contestId: challengeId, requestId: '' };
  const [item] = expectAccepted(await client.findOpenAttempts({ queries: [query] })).results;
  return item?.result?.$case === 'found' ? item.result.value : item?.result;
}

const nothing = { attemptIds: [], isCalibrating: false };

describe('the open attempts of a player', () => {
  it('the oldest two open attempts of a player are found by any ref of the account', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    const second = `second-${newId()}`;
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: second }, email: player.email }),
    );
    expect(await find(challenge.id, player.ref)).toEqual({ attemptIds: [attempt.id], isCalibrating: false });
    h.clock.advance(1_000);
    const later = created(await h.create(challenge.id, second));
    h.clock.advance(1_000);
    const last = created(await h.create(challenge.id, player.ref));
    // The other replica did not open these attempts, so it asks the wallet about attempts whose
    // status `open` is not written yet.
    for (const client of [other.challenge, h.challenge]) {
      expect(await find(challenge.id, second, { client })).toMatchObject({ attemptIds: [attempt.id, later.id] });
    }
    recorded(await h.report(attempt.id, 1));
    expect(await find(challenge.id, player.ref)).toMatchObject({ attemptIds: [later.id, last.id] });
    expect(await find((await h.open()).id, player.ref)).toEqual(nothing);
    expect(await find(challenge.id, (await h.player()).ref)).toEqual(nothing);
  });

  it('an attempt past its deadline or with an implausible score is not found as open', async () => {
    const { challenge, player, attempt } = await h.openAttempt({ scoreMin: 0 });
    h.clock.advance(HOUR_MS - 1);
    expect(await find(challenge.id, player.ref)).toMatchObject({ attemptIds: [attempt.id] });
    h.clock.advance(1);
    expect(await find(challenge.id, player.ref)).toEqual(nothing);
    const next = created(await h.create(challenge.id, player.ref));
    expect(verdictOf(await h.report(next.id, -1))).toBe('score_out_of_range');
    expect(await find(challenge.id, player.ref)).toEqual(nothing);
  });

  it('an attempt is not found as open if the wallet has no fee for it', async () => {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    const found = await find(challenge.id, player.ref);
    expect(found).toMatchObject({ attemptIds: [expect.any(String)] });
    expect(found).not.toMatchObject({ attemptIds: [attemptId] });
  });

  it('the open attempts in a challenge of another tenant are not found', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    const query = { tenant: PROGRAM as Tenant, playerRef: player.ref, contestId: challenge.id, requestId: '' };
    const queries = [{ ...query, tenant: OTHER_PROGRAM }, query, { ...query, contestId: newId() }];
    const { results } = expectAccepted(await h.challenge.findOpenAttempts({ queries }));
    expect(results.map(({ result }) => (result?.$case === 'found' ? result.value.attemptIds : result?.value))).toEqual([
      expect.objectContaining({ code: 'not_found' }),
      [attempt.id],
      expect.objectContaining({ code: 'not_found' }),
    ]);
  });

  it('the free attempts of a ref without an account are found, even after the ref was linked', async () => {
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const ref = `unlinked-${newId()}`;
    const attempt = created(await h.create(challenge.id, ref));
    const found = { attemptIds: [attempt.id], isCalibrating: true };
    expect(await find(challenge.id, ref)).toEqual(found);
    expect(await find(challenge.id, `unlinked-${newId()}`)).toEqual({ ...found, attemptIds: [] });
    await h.player(ref);
    expect(await find(challenge.id, ref)).toEqual(found);
  });

  it('the open attempts of a player are read by indexes among 100,000 open attempts', async () => {
    // Removes the added rows, so that the audit at the end of this file reads the rows of the
    // service only.
    onTestFinished(() =>
      h.database.transaction(async (tx) => {
        await tx.query({ text: 'set local session_replication_role = replica' });
        await tx.query({ text: `delete from attempts where player_ref ~ '^ref-[0-9]+$'` });
      }),
    );
    const challenge = await h.open({}, { status: ChallengeStatus.CALIBRATING });
    const at = h.clock();
    await h.database.query(
      {
        text: `
insert into attempts (id, challenge_id, player_ref, status, fee_cents, prize_cents, metadata, created_at)
select gen_random_uuid(), $1, 'ref-' || n, 'open', 0, 0, '{}', $2 from generate_series(1, 100000) n`,
      },
      [challenge.id, at],
    );
    await h.database.query({ text: 'analyze attempts' });
    const plan = await h.database.query<{ 'QUERY PLAN': string }>(
      { text: `explain (analyze, buffers, costs off, timing off) ${OPEN_CANDIDATES}` },
      [[challenge.id], [newId()], ['ref-77'], new Date(at.getTime() - HOUR_MS)],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('attempts_by_unlinked_ref');
    expect(text).toContain('attempts_by_player');
    expect(text).not.toContain('Seq Scan');
    expect(text).not.toMatch(/Rows Removed by Filter: [1-9]/);
    expect(await find(challenge.id, 'ref-77')).toMatchObject({ attemptIds: [expect.any(String)] });
  });
});
