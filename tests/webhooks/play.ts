import { expectStatus, type Program, type World } from '../world.ts';

/** Settles or voids an attempt of a new player of the owner's program; returns its id. */
export async function playAttempt(
  { newChallenge, newPlayer, operator }: Pick<World, 'newChallenge' | 'newPlayer' | 'operator'>,
  owner: { readonly program: Program },
  { what = 'settled', environment = 'test' }: { what?: 'settled' | 'refunded'; environment?: 'test' | 'live' } = {},
): Promise<string> {
  const partner = owner.program[environment];
  const challenge = await newChallenge({ environment }, owner.program);
  const player = await newPlayer({ environment, partner });
  const entered = await partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
  const { id } = expectStatus(201, entered).body;
  if (what === 'settled') expectStatus(200, await partner.reportOutcome(id, { score: 1 }));
  else expectStatus(200, await operator.voidAttempt(id, 'a bug'));
  return id;
}
