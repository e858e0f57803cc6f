/**
 * The shape of the fill: which player plays which contest at which instant, as arithmetic on the
 * number of an attempt, so that each service's database can be filled on its own and all databases
 * agree.
 *
 * Attempts are numbered from 0 in the order of time, evenly spread over a year, in a hundred turns.
 * In 90 of them each player plays once: in 20 an entry of a round, in 70 a challenge. In the ten
 * turns from LARGE_TURN on, ten times as many accounts as there are players enter the large round
 * once each; the players' accounts come first.
 */

/** Every program has CHALLENGES_PER_PROGRAM challenges and one tournament. */
export const PROGRAMS = 10;
export const CHALLENGES_PER_PROGRAM = 20;
export const TURNS = 100;
/** The first of the turns of the large round. */
export const LARGE_TURN = 40;
export const LARGE_TURNS = 10;
/** A player wins a challenge with the fifth attempt, and goes on to the next one. */
const ATTEMPTS_PER_PRIZE = 5;
/** In every nine turns outside the large round, the turns with these numbers enter rounds. */
const ROUND_TURNS_OF_NINE = [3, 7];
/** A prime: it spreads ranks and scores over the entrants in a fixed order. */
const SPREAD = 7_919;

export const FEE_CENTS = 100;
export const PRIZE_CENTS = 400;
export const THRESHOLD = 100;
/** The first deposit of a player, and of an account that enters only the large round. */
export const PLAYER_DEPOSIT_CENTS = 20_000;
export const ENTRANT_DEPOSIT_CENTS = 500;
export const PURSE_CENTS = [1_000, 500, 300, 200, 100];
export const LARGE_PURSE_CENTS = Array.from({ length: 100 }, (_, index) => (100 - index) * 100);
/** The wallet's defaults in live, which are frozen on its rows. */
export const PAYOUT_LIMIT_CENTS = 500_000;
export const FEE_LIMIT_CENTS = 20_000;

const DAY_MS = 86_400_000;
const SPAN_MS = 365 * DAY_MS;
/** The last attempt is this old: every round has ended. */
const END_AGO_MS = 2 * 3_600_000;
/** The time between the large round's last entry and the next attempt. */
const GAP_MS = 600_000;
/** The time from the last entry of a round to its end. */
export const ROUND_TAIL_MS = 120_000;
/** The time from the end of a round to the payouts of its purse. */
export const PAID_AFTER_MS = 1_000;

export interface Shape {
  readonly attempts: number;
  readonly players: number;
  /**
   * Accounts that enter the large round: every player's account, and then accounts without a
   * player.
   */
  readonly accounts: number;
  readonly roundsPerTurn: number;
  /** Entrants of each round except the large one. */
  readonly entrants: number;
  /** The time when the first attempt was created. */
  readonly startMs: number;
}

export interface Turn {
  readonly number: number;
  readonly kind: 'challenge' | 'round' | 'large';
  /** How many turns of the same kind come before this turn. */
  readonly nth: number;
  /** How many fees each player paid before this turn. */
  readonly feesBefore: number;
  /** How many turns with challenges come before this turn. */
  readonly challengesBefore: number;
}

/** Throws if the number of attempts is not a multiple of 20,000. */
export function createShape(attempts: number, now: Date): Shape {
  if (!Number.isSafeInteger(attempts) || attempts < 20_000 || attempts % 20_000 !== 0) {
    throw new Error('LAUREL_BENCH_ATTEMPTS must be a multiple of 20,000');
  }
  const players = attempts / TURNS;
  const wanted = Math.max(PROGRAMS, players / 400);
  let roundsPerTurn = PROGRAMS;
  for (let count = PROGRAMS; count <= wanted; count += PROGRAMS) if (players % count === 0) roundsPerTurn = count;
  return {
    attempts,
    players,
    accounts: players * LARGE_TURNS,
    roundsPerTurn,
    entrants: players / roundsPerTurn,
    startMs: now.getTime() - END_AGO_MS - GAP_MS - SPAN_MS,
  };
}

export function turnsOfHistory(): readonly Turn[] {
  const nth = { challenge: 0, round: 0, large: 0 };
  let played = 0;
  return Array.from({ length: TURNS }, (_, number): Turn => {
    const isLarge = number >= LARGE_TURN && number < LARGE_TURN + LARGE_TURNS;
    const kind = isLarge ? 'large' : ROUND_TURNS_OF_NINE.includes(played % 9) ? 'round' : 'challenge';
    const feesBefore = played + (number > LARGE_TURN ? 1 : 0);
    const turn = { number, kind, nth: nth[kind], feesBefore, challengesBefore: nth.challenge } as const;
    nth[kind] += 1;
    if (!isLarge) played += 1;
    return turn;
  });
}

export const ROUND_TURNS = turnsOfHistory().filter(({ kind }) => kind === 'round').length;
export const CHALLENGE_TURNS = turnsOfHistory().filter(({ kind }) => kind === 'challenge').length;

/** Returns SQL for the milliseconds since 1970 at which the attempt of a number was created. */
export function msSql(shape: Shape, number: string): string {
  const gapFrom = shape.players * (LARGE_TURN + LARGE_TURNS);
  return `(${shape.startMs} + (${number})::bigint * ${SPAN_MS} / ${shape.attempts} + case when (${number}) >= ${gapFrom} then ${GAP_MS} else 0 end)`;
}

/** Returns SQL that selects the attempts of a turn of challenges or rounds, with their players. */
export function turnSql(shape: Shape, { number }: Turn): string {
  const { players, entrants } = shape;
  return `
    select s.q, s.q / ${entrants} as r, s.q % ${entrants} as e, ${number * players} + s.q as i,
      ((s.q / ${entrants} / ${PROGRAMS}) * ${entrants} + s.q % ${entrants}) * ${PROGRAMS} + s.q / ${entrants} % ${PROGRAMS} as p,
      s.q / ${entrants} % ${PROGRAMS} as program, ${msSql(shape, `${number * players} + s.q`)} as ms
    from generate_series(0, ${players - 1}) as s (q)`;
}

/** Returns SQL that selects the attempts of a turn of the large round; `p` is the account. */
export function largeTurnSql(shape: Shape, { number, nth }: Turn): string {
  const { players } = shape;
  return `
    select ${number * players} + s.q as i, ${nth * players} + s.q as p, ${msSql(shape, `${number * players} + s.q`)} as ms
    from generate_series(0, ${players - 1}) as s (q)`;
}

/** Returns SQL for how long after its creation an attempt was settled. */
export function settledMsSql(number: string): string {
  return `(20000 + (${number}) % 60 * 1000)`;
}

export function instantSql(ms: string): string {
  return `to_timestamp((${ms}) / 1000.0)`;
}

/** Returns SQL for the place of an entrant on the board, from 0. */
export function placeSql(entrant: string, entrants: number): string {
  return `((${entrant})::bigint * ${SPREAD} % ${entrants})::int`;
}

/** Returns SQL for a score that gives an entrant its place. */
export function scoreSql(place: string, entrants: number): string {
  return `((${entrants} - (${place})) * 100 + ((${place}) * 37) % 100)`;
}

/** Returns SQL for an instant as the contract writes it. */
export function isoSql(instant: string): string {
  return `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Returns SQL for the challenge that a player plays in a turn, and for whether the player wins. */
export function challengePlaySql({ nth }: Turn): { readonly challenge: string; readonly wins: string } {
  const step = `(${nth} + p / ${PROGRAMS} % ${ATTEMPTS_PER_PRIZE})`;
  return {
    challenge: `(program * ${CHALLENGES_PER_PROGRAM} + (p / ${PROGRAMS} + ${step} / ${ATTEMPTS_PER_PRIZE}) % ${CHALLENGES_PER_PROGRAM})`,
    wins: `(${step} % ${ATTEMPTS_PER_PRIZE} = ${ATTEMPTS_PER_PRIZE - 1})`,
  };
}

/** Returns SQL for how many prizes a player has won in this many turns of challenges. */
export function prizesSql(challengeTurns: number): string {
  return `((${challengeTurns} + p / ${PROGRAMS} % ${ATTEMPTS_PER_PRIZE}) / ${ATTEMPTS_PER_PRIZE})`;
}
