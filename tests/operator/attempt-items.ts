/** Attempts about which a player may complain. */
import { eventually, expectStatus, type Player, type SharedWorld } from '../world.ts';
import { newHeldPayout } from './payout-items.ts';

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
  // A search finds the attempt only after everything is written.
  await world.allWritten();
  return { player, attemptId };
}

/**
 * Makes a held payout of 5.00. Resolves once its attempt and the player's attempt before it are
 * listed.
 */
export async function newComplaint(world: SharedWorld) {
  const held = await newHeldPayout(world);
  const attempt = expectStatus(200, await world.partner.getAttempt(held.attemptId)).body;
  // An attempt is listed once its creation must have ended.
  await eventually(async () => {
    const path = `/attempts?account_id=${held.player.accountId}`;
    const { data } = expectStatus(200, await world.operator.send<{ data: unknown[] }>('GET', path)).body;
    return data.length === 2 || undefined;
  }, 'both attempts are listed');
  return { ...held, receiptId: attempt.outcome?.receipt_id ?? '' };
}
