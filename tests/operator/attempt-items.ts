/** Attempts about which a player may complain. */
import { eventually, expectStatus, type Player, type SharedWorld } from '../world.ts';

export interface OpenAttempt {
  readonly attemptId: string;
  readonly player: Player;
}

/** An attempt in the sandbox, paid for with 1.00 of 100.00, whose outcome has not been reported. */
export async function newOpenAttempt(world: SharedWorld): Promise<OpenAttempt> {
  const challenge = await world.newChallenge();
  const player = await world.newPlayer();
  const entry = { challenge_id: challenge.id, player_ref: player.ref };
  const attemptId = expectStatus(201, await world.partner.createAttempt(entry)).body.id;
  // Until then no search finds it.
  await world.allWritten();
  return { player, attemptId };
}

export interface Complaint extends OpenAttempt {
  readonly receiptId: string;
  readonly awardId: string;
  /** An open attempt of the player at the same challenge. */
  readonly other: string;
}

/** A player under investigation has won 5.00 in the sandbox, which are held. */
export async function newComplaint(world: SharedWorld): Promise<Complaint> {
  const challenge = await world.newChallenge();
  const player = await world.newPlayer();
  expectStatus(200, await world.operator.updateAccount(player.accountId, { under_investigation: true }));
  const enter = async () => {
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    return expectStatus(201, await world.partner.createAttempt(entry)).body.id;
  };
  const [other, attemptId] = [await enter(), await enter()];
  const report = { score: 100, evidence: { replay: 'r-1' } };
  const { receipt_id, award } = expectStatus(200, await world.partner.reportOutcome(attemptId, report)).body;
  // An attempt is listed once its creation must have ended.
  await eventually(async () => {
    const listed = await world.operator.send<{ data: unknown[] }>('GET', `/attempts?account_id=${player.accountId}`);
    return expectStatus(200, listed).body.data.length === 2 || undefined;
  }, 'both attempts are listed');
  return { player, attemptId, other, receiptId: receipt_id, awardId: award?.id ?? '' };
}
