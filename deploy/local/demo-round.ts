/** The demo's round: three players, a re-buy, a masked leaderboard and a full one, and the final table with its purses. */
import { randomUUID } from 'node:crypto';
import { type TrustedKey, verifyReceipt } from '@laurel/sdk';
import { type Answer, type Call, chapter, check, type Json } from './demo-calls.ts';
import type { Webhooks } from './demo-webhooks.ts';
import { CUP } from './seed.ts';

export async function playRound(on: {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly asPartner: Record<string, string>;
  readonly asOperator: Record<string, string>;
  readonly programId: string;
  readonly run: string;
  readonly webhooks: Webhooks;
  /** The keys against which receipts and seals are verified. */
  readonly trusted: readonly TrustedKey[];
}): Promise<void> {
  const { call, asPartner, asOperator, programId, run, webhooks, trusted } = on;
  const withKey = () => ({ ...asPartner, 'idempotency-key': randomUUID() });

  chapter('Laurel: an operator opens a tournament, whose first round opens with it');
  const tournament = await call({
    method: 'POST',
    path: `/api/operator/programs/${programId}/tournaments`,
    headers: asOperator,
    body: { ...CUP, name: `Demo cup ${run}` },
    expect: 201,
  });
  const roundId = String((tournament.body.current_round as Json).id);
  const board = (playerRef: string) =>
    call({
      method: 'GET',
      path: `/v1/tournaments/rounds/${roundId}/leaderboard?player_ref=${playerRef}`,
      headers: asPartner,
      expect: 200,
    });
  const play = async (playerRef: string, score: number): Promise<Answer> => {
    const entry = await call({
      method: 'POST',
      path: '/v1/attempts',
      headers: withKey(),
      body: { tournament_round_id: roundId, player_ref: playerRef },
      expect: 201,
    });
    const outcome = await call({
      method: 'POST',
      path: `/v1/attempts/${entry.body.id}/outcome`,
      headers: withKey(),
      body: { score, evidence: { seed: run } },
      expect: 200,
    });
    webhooks.expect({
      what: `the score of ${playerRef}`,
      event: 'attempt.settled',
      holds: (data) =>
        data.attempt_id === entry.body.id && data.tournament_round_id === roundId && data.score === score,
    });
    return outcome;
  };

  chapter('Partner: three players of the sandbox, with 10.00 of play money each');
  const [ada, ben, cleo] = [`ada-${run}`, `ben-${run}`, `cleo-${run}`] as const;
  for (const playerRef of [ada, ben, cleo]) {
    await call({
      method: 'POST',
      path: '/api/sandbox/players',
      headers: asPartner,
      body: { player_ref: playerRef, funds: '10.00' },
      expect: 201,
    });
  }

  chapter('Partner: two of them enter and score');
  await play(ada, 61.5);
  await play(ben, 64.25);

  chapter('Partner: the third looks before entering, and sees how many play, not how well');
  const masked = await board(cleo);
  check(masked.body.locked === true && masked.body.data === undefined, 'who has not entered must see no rows');

  chapter('Partner: the third enters too, and the first enters again and does better');
  await play(cleo, 58);
  const best = await play(ada, 70.125);

  chapter('Partner: the running board shows a player only its own row and its neighbours');
  const running = await board(cleo);
  check(ranksOf(running) === `2 ${ben}, 3 ${cleo}`, 'the last of three must see the second and itself');

  chapter('Partner: the sandbox brings the end of the round, which settles at once');
  const closed = await call({
    method: 'POST',
    path: `/api/sandbox/rounds/${roundId}/close`,
    headers: asPartner,
    expect: 200,
  });
  check(closed.body.status === 'settled', 'a round with enough players must settle');
  webhooks.expect({
    what: 'the round',
    event: 'round.settled',
    holds: (data) => data.tournament_round_id === roundId && data.ranked_players === 3 && data.purse === 9,
  });

  chapter('Partner: the final table, with the purses paid');
  const final = await board(ben);
  check(ranksOf(final) === `1 ${ada}, 2 ${ben}, 3 ${cleo}`, 'everybody must see the complete table in the end');
  const paid = (final.body.data as Json[]).map((row) => `${row.payout_amount} ${row.payout_status}`).join(', ');
  check(paid === '6.00 paid, 3.00 paid, 0.00 none', `the purse must be paid by rank, not: ${paid}`);

  chapter('Laurel: the receipt of the best run, with the proof that the sealed round counted it');
  const receipt = await call({
    method: 'GET',
    path: `/api/operator/receipts/${best.body.receipt_id}`,
    headers: asOperator,
    expect: 200,
  });
  const verdict = await verifyReceipt(receipt.body, trusted);
  check(
    verdict.kind === 'valid' && verdict.counted?.seal.leaf.final_rank === 1,
    'a receipt of a settled round must carry a seal that counts it, signed with a key of the list',
  );
}

function ranksOf(board: Answer): string {
  return (board.body.data as Json[]).map((row) => `${row.rank} ${row.player_ref}`).join(', ');
}
