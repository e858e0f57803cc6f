/** Which open attempts of a player FindOpenAttempts finds, and until when. */

import type { Tenant } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, OTHER_PROGRAM, PROGRAM, recorded, useHarness, useReplica } from '../tournament.fixture.ts';

const h = useHarness();
const other = useReplica(h);

async function find(roundId: string, playerRef: string, { client = h.tournament, tenant = PROGRAM as Tenant } = {}) {
  const query = { tenant, playerRef, contestId: roundId, requestId: '' };
  const [item] = expectAccepted(await client.findOpenAttempts({ queries: [query] })).results;
  return item?.result?.$case === 'found' ? item.result.value.attemptIds : item?.result;
}

describe('the open attempts of a player', () => {
  it('the oldest two open attempts of a player are found by any ref of the account', async () => {
    const { round, player, attempt } = await h.openAttempt({ attemptCap: 10 });
    const second = await h.secondRefOf(player);
    h.clock.advance(1_000);
    const later = created(await h.create(round.id, second));
    h.clock.advance(1_000);
    const last = created(await h.create(round.id, player.ref));
    for (const client of [other.tournament, h.tournament]) {
      expect(await find(round.id, second, { client })).toEqual([attempt.id, later.id]);
    }
    recorded(await h.report(attempt.id, 1));
    expect(await find(round.id, player.ref)).toEqual([later.id, last.id]);
    expect(await find(round.id, (await h.player()).ref)).toEqual([]);
    expect(await find(round.id, `unlinked-${newId()}`)).toEqual([]);
  });

  it('the open attempts of a player are found until their deadline', async () => {
    const { round, player, attempt } = await h.openAttempt();
    h.clock.advance(HOUR_MS - 1);
    expect(await find(round.id, player.ref)).toEqual([attempt.id]);
    h.clock.advance(1);
    expect(await find(round.id, player.ref)).toEqual([]);
  });

  it('the open attempts of a player are found until the end of their round', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const attempt = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS / 2 - 1);
    expect(await find(round.id, player.ref)).toEqual([attempt.id]);
    h.clock.advance(1);
    expect(await find(round.id, player.ref)).toEqual([]);
  });

  it('the open attempts in a round of another tenant are not found', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const query = { tenant: PROGRAM as Tenant, playerRef: player.ref, contestId: round.id, requestId: '' };
    const queries = [{ ...query, tenant: OTHER_PROGRAM }, query, { ...query, contestId: newId() }];
    const { results } = expectAccepted(await h.tournament.findOpenAttempts({ queries }));
    expect(results.map(({ result }) => (result?.$case === 'found' ? result.value.attemptIds : result?.value))).toEqual([
      expect.objectContaining({ code: 'not_found' }),
      [attempt.id],
      expect.objectContaining({ code: 'not_found' }),
    ]);
    // A round has no bar that could be calibrated.
    expect(results[1]?.result).toMatchObject({ value: { isCalibrating: false } });
  });
});
