import type { BenchProgram, Player } from './paid-flow.ts';
import { LOSSES_PER_WIN } from './winning-flows.ts';

/**
 * A player and its progress: after a win it moves to its program's next challenge, because a
 * challenge pays a player once.
 */
interface Contender extends Player {
  /** The index of the program's challenge that it plays now. */
  challenge: number;
  /** The player's losses since the player's last win. */
  losses: number;
}

/**
 * Why a flow takes a player: for a challenge that it will win or lose, or for an entry of a round,
 * which does neither.
 */
export type Play = 'win' | 'loss' | 'entry';

/** A player that a flow has taken, and the challenge that it plays. */
export interface Assignment {
  readonly player: Player;
  readonly challengeId: string;
  /** Ends the assignment: the player rests until its next flow. */
  release(): void;
}

/**
 * The players of one load process. A player is in one flow at a time, and the one that rested
 * longest is next. winning-flows.ts decides which flow wins; for a winning flow the pool prefers a
 * player with four losses, so that all players win equally often.
 */
export interface PlayerPool {
  /** Throws if no player rests, or the player's challenges are used up. */
  take(play: Play): Assignment;
}

/**
 * At the start each player gets a `random` number of losses, from none to four: otherwise the first
 * wins would find no player with four losses.
 */
export function createPlayerPool(programs: readonly BenchProgram[], random: () => number): PlayerPool {
  const losing: Contender[] = [];
  const winning: Contender[] = [];
  const rest = (contender: Contender) => (contender.losses < LOSSES_PER_WIN ? losing : winning).push(contender);
  for (const player of playersOf(programs)) {
    rest({ ...player, challenge: 0, losses: Math.floor(random() * (LOSSES_PER_WIN + 1)) });
  }
  return {
    take(play) {
      const [preferred, other] = play === 'win' ? [winning, losing] : [losing, winning];
      const contender = preferred.shift() ?? other.shift();
      if (contender === undefined) throw new Error('more clients than players');
      const challengeId = contender.program.challengeIds[contender.challenge];
      if (challengeId === undefined) throw new Error('the benchmark made too few challenges for this many flows');
      if (play === 'win') {
        // The player moves on even if the flow fails: its prize may be claimed.
        contender.challenge += 1;
        contender.losses = 0;
      } else if (play === 'loss') {
        contender.losses += 1;
      }
      return { player: contender, challengeId, release: () => void rest(contender) };
    },
  };
}

/** Returns one player of each program, then the second of each, and so on. */
function playersOf(programs: readonly BenchProgram[]): Player[] {
  const longest = Math.max(0, ...programs.map((program) => program.playerRefs.length));
  return Array.from({ length: longest }, (_, index) =>
    programs.flatMap((program) => {
      const playerRef = program.playerRefs[index];
      return playerRef === undefined ? [] : [{ program, playerRef }];
    }),
  ).flat();
}
