/** How a round ends: ranks, payouts, refunds, seal. */
import { putSigningKey } from '@laurel/attempts';
import { BLOCK_LEAVES, createMerkleTree, proveInclusion } from '@laurel/signature';
import { verdictOnReceipt } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awardIdOfRank } from '../domain/purse.ts';
import { composeSealLeaf, composeSealStatement } from '../domain/seal.ts';
import type { Round } from '../domain/tournament.ts';
import { findAttempt } from './attempts.ts';
import { type BoardCursor, loadStandings, type RankedStanding } from './board.ts';
import { findReceipt } from './outcomes.ts';
import { loadUndecidedPayouts, roundAwards } from './payouts.ts';
import { loadRefundsOfRound, type RefundPosition, refundQueue } from './refunds.ts';
import { type Harness, HOUR_MS, NOW, playersOf, roundOf, SIGNER, startHarness } from './repository.fixture.ts';
import { changeRoundStatus, findRound, insertRound, loadRoundsSoFar, loadUnfinishedRounds } from './rounds.ts';
import { findSeal, finishSettlement, loadBlockOf, loadLeaves, type OrderedLeaf, type SealBlock } from './seals.ts';
import { endOpenAttempts, finishCancellation, lockRoundToEnd } from './settlement.ts';
import { findTournament, lockTournament } from './tournaments.ts';

let h: Harness;
const nextRefunds = (limit: number) => refundQueue.loadNext(h.database, limit);
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

const LATER = new Date(NOW.getTime() + HOUR_MS);

async function tableOf(roundId: string): Promise<readonly RankedStanding[]> {
  const rows: RankedStanding[] = [];
  let after: BoardCursor | null = null;
  for (;;) {
    const page = await loadStandings(h.database, roundId, after, 500);
    rows.push(...page);
    after = page.at(-1)?.cursor ?? null;
    if (after === null) return rows;
  }
}

/** Every player scores once, then some of them again, at different scores. */
async function play(round: Round, players: number, again: number): Promise<void> {
  const all = playersOf(players);
  for (const some of [all, all.slice(0, again)]) {
    for (let from = 0; from < some.length; from += 200) {
      const attempts = await h.enter(round, some.slice(from, from + 200));
      await h.report(attempts.map(({ id }, index) => ({ attemptId: id, score: ((from + index) * 7_919) % 10_007 })));
    }
  }
}

async function payAll(roundId: string, heldRank: number): Promise<void> {
  for (;;) {
    const unpaid = await loadUndecidedPayouts(h.database, roundId, 2);
    if (unpaid.length === 0) return;
    const released = await roundAwards.recordPayouts(
      h.database,
      unpaid.map(({ award }) => ({
        awardId: award.id,
        asked: 'paying' as const,
        ...(award.finalRank === heldRank ? { status: 'held', paidAt: null } : { status: 'paid', paidAt: LATER }),
      })),
    );
    expect(released).toEqual([]);
  }
}

/** The tree over all leaves, read in pages of this many entries. */
async function treeOf(
  roundId: string,
  entries: number,
): Promise<{ readonly leaves: readonly OrderedLeaf[]; readonly root: Buffer; readonly blocks: readonly SealBlock[] }> {
  const tree = createMerkleTree();
  const leaves: OrderedLeaf[] = [];
  const blocks: SealBlock[] = [];
  const note = (found: { readonly position: number; readonly root: Buffer } | null) => {
    if (found === null) return;
    const first = leaves[found.position * BLOCK_LEAVES];
    if (first === undefined) throw new Error('a block without a leaf');
    blocks.push({ ...found, firstSortKey: first.sortKey, leavesBefore: first.leavesBefore });
  };
  for (let after: Buffer | null = null; ; ) {
    const page = await loadLeaves(h.database, roundId, after, entries);
    for (const leaf of page) {
      leaves.push(leaf);
      note(tree.append(composeSealLeaf(leaf.counted)));
    }
    after = page.at(-1)?.sortKey ?? null;
    if (after === null) break;
  }
  const { root, lastBlock } = tree.end();
  note(lastBlock);
  return { leaves, root, blocks };
}

async function seal(roundId: string): Promise<boolean> {
  const { leaves, root, blocks } = await treeOf(roundId, 300);
  const found = (await findRound(h.database, roundId)) ?? expect.fail(`there is no round ${roundId}`);
  const statement = composeSealStatement({ ...found, leaves: leaves.length, root, settledAt: LATER });
  const { canonical, signature } = SIGNER.sign(statement);
  const key = await putSigningKey(h.database, SIGNER.publicKey);
  const sealed = { roundId, leaves: leaves.length, root, statement: canonical, signature, createdAt: LATER };
  return await h.database.transaction((tx) => finishSettlement(tx, sealed, blocks, key));
}

describe('a round that settles', () => {
  it('settling a round ranks every entry with a run and ends open attempts', async () => {
    const round = await h.openRound();
    await play(round, 2_000, 500);
    const [unscored] = await h.enter(round, playersOf(1));
    if (unscored === undefined) throw new Error('no attempt');
    const before = await tableOf(round.id);

    await h.close(round.id, LATER);

    const table = await tableOf(round.id);
    const { purse } = round.terms;
    expect(table.map(({ standing }) => standing)).toEqual(
      before.map(({ standing }, index) => ({
        ...standing,
        finalRank: index + 1,
        payoutCents: purse[index] ?? 0n,
        awardStatus: index < purse.length ? 'paying' : null,
      })),
    );
    expect(table.length).toBe(2_000);
    const unpaid = await loadUndecidedPayouts(h.database, round.id, 10);
    expect(unpaid.map(({ award, tenant }) => [award.id, award.finalRank, award.amountCents, tenant])).toEqual(
      purse.map((amount, index) => [awardIdOfRank(round.id, index + 1), index + 1, amount, round.tenant]),
    );
    expect(await nextRefunds(10)).toEqual([
      { id: unscored.id, feeGeneration: 0, reason: 'round_closed', environment: round.tenant.environment },
    ]);
    expect((await findAttempt(h.database, unscored.id))?.attempt.status).toBe('expiring');
    expect((await findRound(h.database, round.id))?.round.status).toBe('settling');
    expect(await h.violations()).toEqual([]);

    expect(await seal(round.id)).toBe(false);
    await payAll(round.id, 2);
    expect(await seal(round.id)).toBe(true);
    expect(await seal(round.id)).toBe(false);
    expect((await findRound(h.database, round.id))?.round).toMatchObject({ status: 'settled', settledAt: LATER });
    expect((await tableOf(round.id)).slice(0, 4).map(({ standing }) => standing.awardStatus)).toEqual([
      'paid',
      'held',
      'paid',
      null,
    ]);
    expect(await h.violations()).toEqual([]);

    const stored = await findSeal(h.database, round.id);
    if (stored === null) throw new Error('no seal');
    const { leaves } = await treeOf(round.id, 7);
    expect(leaves.length).toBe(2_500);
    expect(leaves.map(({ counted }) => counted.finalRank)).toEqual(
      leaves.map(({ counted }) => counted.finalRank).toSorted((one, other) => one - other),
    );
    expect(leaves.filter(({ counted }) => counted.isBest).length).toBe(2_000);
    for (const index of [0, 1, 1_023, 1_024, 1_025, 2_047, 2_048, 2_499]) {
      const leaf = leaves[index];
      if (leaf === undefined) throw new Error('no leaf');
      const { attemptId, receiptId } = leaf.counted.outcome;
      const sealed = await loadBlockOf(h.database, { attemptId, roundId: round.id });
      if (sealed === null) throw new Error('no block');
      const inBlock = sealed.leaves.findIndex(({ counted }) => counted.outcome.attemptId === attemptId);
      expect(sealed.block.position * BLOCK_LEAVES + inBlock).toBe(index);
      const block = sealed.leaves.map(({ counted }) => composeSealLeaf(counted));
      const proof = proveInclusion({ index, leaves: stored.leaves, block, blockRoots: stored.blockRoots });
      const found = (await findReceipt(h.database, receiptId)) ?? expect.fail(`there is no receipt ${receiptId}`);
      expect(found).toMatchObject({ attemptId, roundId: round.id });
      const seal = {
        statement: JSON.parse(stored.statement),
        signature: stored.signature.toString('base64'),
        leaf: JSON.parse(composeSealLeaf(leaf.counted)),
        leaf_index: index,
        proof: proof.map((sibling) => sibling.toString('hex')),
      };
      const { receipt: canonical, signature, publicKey } = found;
      const verdict = await verdictOnReceipt({ canonical, signature, publicKey, seal });
      expect(verdict).toMatchObject({
        kind: 'valid',
        counted: { seal: { statement: { root: stored.root.toString('hex') } } },
      });
    }
  }, 60_000);

  it('a round with fewer scored players than ranks pays only the reached ranks', async () => {
    const few = await h.openRound({ purse: [300n, 200n, 100n].map(cents) });
    const attempts = await h.enter(few, playersOf(3));
    await h.report(attempts.slice(0, 2).map(({ id }, index) => ({ attemptId: id, score: index })));
    await h.close(few.id);
    const unpaid = await loadUndecidedPayouts(h.database, few.id, 10);
    expect(unpaid.map(({ award }) => [award.finalRank, award.amountCents])).toEqual([
      [1, 300n],
      [2, 200n],
    ]);

    const none = await h.openRound();
    await h.enter(none, playersOf(2));
    await h.close(none.id);
    expect(await loadUndecidedPayouts(h.database, none.id, 10)).toEqual([]);
    expect((await findRound(h.database, none.id))?.round.status).toBe('cancelling');
    expect(await h.violations()).toEqual([]);
  });

  it('recordPayouts returns a released purse once, when it is paid, and never a denied purse', async () => {
    const round = await h.openRound();
    const players = playersOf(3);
    const attempts = await h.enter(round, players);
    await h.report(attempts.map(({ id }, index) => ({ attemptId: id, score: -index })));
    await h.close(round.id);
    const [first = '', second = '', third = ''] = [1, 2, 3].map((rank) => awardIdOfRank(round.id, rank));
    for (const [awardId, underWay] of [
      [first, 'releasing'],
      [second, 'denying'],
    ] as const) {
      await roundAwards.recordPayouts(h.database, [{ awardId, asked: 'paying', status: 'held', paidAt: null }]);
      expect(await roundAwards.changeAwardStatus(h.database, awardId, 'held', underWay)).toBe(true);
    }
    const paid = { status: 'paid', paidAt: LATER } as const;
    const payouts = [
      { awardId: first, asked: 'paying', ...paid },
      { awardId: first, asked: 'releasing', ...paid },
      { awardId: first, asked: 'releasing', ...paid },
      { awardId: second, asked: 'denying', status: 'denied', paidAt: null },
      { awardId: third, asked: 'paying', ...paid },
    ] as const;
    expect(await roundAwards.recordPayouts(h.database, payouts)).toEqual([
      {
        awardId: first,
        roundId: round.id,
        playerRef: players[0]?.playerRef,
        amountCents: round.terms.purse[0],
        paidAt: LATER,
        tenant: round.tenant,
      },
    ]);
    expect(await roundAwards.recordPayouts(h.database, payouts)).toEqual([]);
  });

  it('settling a round opens exactly one next round in the same commit', async () => {
    const round = await h.openRound();
    await h.enter(round, playersOf(1));
    const found = await findTournament(h.database, round.tournamentId);
    if (found === null) throw new Error('no tournament');
    const next = (changes: Partial<Round>) => roundOf(found.tournament, { id: newId(), ...changes });
    expect(await insertRound(h.database, next({ number: 2 }))).toBe(false);
    await h.database.transaction(async (tx) => {
      const held = await lockRoundToEnd(tx, round.id);
      expect(held).toMatchObject({ round: { status: 'open' }, tally: { entrants: 1 }, pending: 0 });
      await endOpenAttempts(tx, round.id, 'round_closed', NOW);
      await changeRoundStatus(tx, round.id, 'open', 'settling');
      const { nextNumber, hasOpenRound } = await loadRoundsSoFar(tx, round.tournamentId);
      expect({ nextNumber, hasOpenRound }).toEqual({ nextNumber: 2, hasOpenRound: false });
      expect(await insertRound(tx, next({ number: nextNumber }))).toBe(true);
    });
    expect((await findTournament(h.database, round.tournamentId))?.currentRound?.round).toMatchObject({
      number: 2,
      status: 'open',
    });
  });

  it('settling a round waits for outcomes in flight and refuses later outcomes', async () => {
    for (let time = 0; time < 10; time += 1) {
      const round = await h.openRound();
      const attempts = await h.enter(round, playersOf(30));
      const batches = [0, 10, 20].map((from) =>
        h
          .report(attempts.slice(from, from + 10).map(({ id }) => ({ attemptId: id, score: from })))
          .then(() => 10)
          .catch((error: unknown) => {
            if (!String(error).includes('is not open')) throw error;
            return 0;
          }),
      );
      const [held, ...scored] = await Promise.all([h.close(round.id), ...batches]);
      const total = scored.reduce((sum, count) => sum + count, 0);
      expect(held.tally.scoredAttempts).toBe(total);
      expect((await tableOf(round.id)).length).toBe(total);
    }
    expect(await h.violations()).toEqual([]);
  });

  it('a round that settles does not deadlock with operators who open rounds of its tournament', async () => {
    const round = await h.openRound();
    const tournament = (await findTournament(h.database, round.tournamentId))?.tournament;
    if (tournament === undefined) throw new Error('no tournament');
    const openings = [2, 3, 4, 5].map((number) =>
      h.database.transaction(async (tx) => {
        await lockTournament(tx, tournament.id);
        return await insertRound(tx, roundOf(tournament, { id: newId(), number }));
      }),
    );
    const [, ...isOpened] = await Promise.all([h.close(round.id), ...openings]);
    expect(isOpened.filter((isOne) => isOne).length).toBeLessThanOrEqual(1);
    expect(await h.violations()).toEqual([]);
  });
});

describe('a round that is cancelled', () => {
  it('cancelling a round queues the refund of every fee of the round', async () => {
    const round = await h.openRound({ minEntrants: 4 });
    const players = playersOf(3);
    const first = await h.enter(round, players);
    const second = await h.enter(round, players.slice(0, 1));
    await h.report([...first.slice(0, 2), ...second].map(({ id }, index) => ({ attemptId: id, score: index })));
    const third = await h.enter(round, players.slice(0, 1));
    const before = (await tableOf(round.id)).map(({ standing }) => standing);
    expect(before.map(({ paidAttempts }) => paidAttempts)).toEqual([3, 1]);

    await h.close(round.id, LATER);

    expect((await tableOf(round.id)).map(({ standing }) => standing)).toEqual(before);
    const ended = new Set([...first, ...second, ...third].map(({ id }) => id));
    const due = (await nextRefunds(1_000)).filter(({ id }) => ended.has(id));
    expect(due.map(({ id }) => id).toSorted()).toEqual([...ended].toSorted());
    expect(due.every(({ reason }) => reason === 'round_cancelled')).toBe(true);
    const paged: string[] = [];
    for (let after: RefundPosition | null = null; ; ) {
      const page = await loadRefundsOfRound(h.database, round.id, after, 2);
      paged.push(...page.map(({ id, reason }) => `${id} ${reason}`));
      after = page.at(-1)?.cursor ?? null;
      if (after === null) break;
    }
    expect(paged).toEqual(due.map(({ id, reason }) => `${id} ${reason}`));
    expect(await loadUndecidedPayouts(h.database, round.id, 10)).toEqual([]);
    expect(await h.violations()).toEqual([]);
    expect((await loadUnfinishedRounds(h.database, NOW)).map(({ id }) => id)).toContain(round.id);

    expect(await finishCancellation(h.database, round.id)).toBe(false);
    const ids = due.map(({ id }) => id);
    await h.database.query({ text: 'delete from refunds_due where attempt_id = any($1::uuid[])' }, [ids]);
    await h.database.query(
      { text: `update attempts set status = 'expired' where id = any($1::uuid[]) and status = 'expiring'` },
      [ids],
    );
    expect(await finishCancellation(h.database, round.id)).toBe(true);
    expect((await findRound(h.database, round.id))?.round).toMatchObject({ status: 'cancelled', settledAt: null });
    expect((await tableOf(round.id)).map(({ standing }) => standing)).toEqual(before);
    expect((await loadUnfinishedRounds(h.database, NOW)).map(({ id }) => id)).not.toContain(round.id);
    expect(await h.violations()).toEqual([]);
  });
});
