/**
 * The demo's round: three players, a re-buy, a masked and a full leaderboard, and the final table
 * with its purses.
 */
import { randomUUID } from 'node:crypto';
import type { Json, Operator } from '@laurel/local-infrastructure/running-stack';
import { type Laurel, type Leaderboard, type Outcome, type TrustedKey, verifyReceipt } from '@laurel/sdk';
import { SEEDED_TOURNAMENT } from '../stack/seed.ts';
import { chapter, check } from './print.ts';
import type { Webhooks } from './webhooks.ts';

export async function playRound(on: {
  readonly laurel: Laurel;
  readonly operator: Operator;
  readonly programId: string;
  readonly run: string;
  readonly webhooks: Webhooks;
  /** The keys that verify receipts and seals. */
  readonly trusted: readonly TrustedKey[];
}): Promise<void> {
  const { laurel, operator, programId, run, webhooks, trusted } = on;

  chapter('Laurel: an operator opens a tournament, whose first round opens with it');
  const tournament = await operator({
    method: 'POST',
    path: `/api/operator/programs/${programId}/tournaments`,
    body: { ...SEEDED_TOURNAMENT, name: `Demo cup ${run}` },
    expect: 201,
  });
  const roundId = String((tournament.current_round as Json).id);
  const board = (playerRef: string) => laurel.rounds.leaderboard(roundId, { player_ref: playerRef });
  const play = async (playerRef: string, score: number): Promise<Outcome> => {
    const entry = { tournament_round_id: roundId, player_ref: playerRef };
    const { id } = await laurel.attempts.create(entry, { idempotencyKey: randomUUID() });
    const outcome = await laurel.attempts.reportOutcome(id, { score, evidence: { seed: run } });
    webhooks.expect(
      `the score of ${playerRef}`,
      'attempt.settled',
      (data) => data.attempt_id === id && data.tournament_round_id === roundId && data.score === score,
    );
    return outcome;
  };

  chapter('Partner: three players of the sandbox, with 10.00 of play money each');
  const [ada, ben, cleo] = [`ada-${run}`, `ben-${run}`, `cleo-${run}`] as const;
  for (const playerRef of [ada, ben, cleo]) {
    await laurel.sandbox.createPlayer({ player_ref: playerRef, funds: '10.00' });
  }

  chapter('Partner: two of them enter and score');
  await play(ada, 61.5);
  await play(ben, 64.25);

  chapter('Partner: the third looks before entering, and sees how many play, not how well');
  const masked = await board(cleo);
  check(!('data' in masked) && masked.locked, 'who has not entered must see no rows');

  chapter('Partner: the third enters too, and the first enters again and does better');
  await play(cleo, 58);
  const best = await play(ada, 70.125);

  chapter('Partner: the running board shows a player only its own row and its neighbours');
  const running = await board(cleo);
  check(ranksOf(running) === `2 ${ben}, 3 ${cleo}`, 'the last of three must see the second and itself');

  chapter('Partner: the sandbox brings the end of the round, which settles at once');
  const closed = await laurel.sandbox.closeRound(roundId);
  check(closed.status === 'settled', 'a round with enough players must settle');
  webhooks.expect(
    'the round',
    'round.settled',
    (data) => data.tournament_round_id === roundId && data.ranked_players === 3 && data.purse === 9,
  );

  chapter('Partner: the final table, with the purses paid');
  const final = await board(ben);
  check(ranksOf(final) === `1 ${ada}, 2 ${ben}, 3 ${cleo}`, 'everybody must see the complete table in the end');
  const paid = rowsOf(final).map((row) => `${row.payout_amount} ${row.payout_status}`);
  check(paid.join() === '6.00 paid,3.00 paid,0.00 none', `the purse must be paid by rank, not: ${paid.join(', ')}`);

  chapter('Laurel: the receipt of the best run, with the proof that the sealed round counted it');
  const path = `/api/operator/receipts/${best.receipt_id}`;
  const verdict = await verifyReceipt(await operator({ method: 'GET', path, expect: 200 }), trusted);
  check(
    verdict.kind === 'valid' && verdict.counted?.seal.leaf.final_rank === 1,
    'a receipt of a settled round must carry a seal that counts it, signed with a key of the list',
  );
}

function rowsOf(board: Leaderboard) {
  return 'data' in board ? board.data : [];
}

function ranksOf(board: Leaderboard): string {
  return rowsOf(board)
    .map((row) => `${row.rank} ${row.player_ref}`)
    .join(', ');
}
