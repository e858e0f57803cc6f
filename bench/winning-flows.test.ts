import { describe, expect, test } from 'vitest';
import { type Assignment, createPlayerPool } from './player-pool.ts';
import {
  createRandom,
  createWinSequence,
  type FlowResult,
  isMixed,
  LOSSES_PER_WIN,
  WINDOW,
  winsInWindows,
} from './winning-flows.ts';

const FLOWS = 100_000;

function resultsOf(flows: number, isNextWin = createWinSequence()): FlowResult[] {
  return Array.from({ length: flows }, () => (isNextWin() ? 'won' : 'lost'));
}

describe('the order of wins and losses in a run', () => {
  test('exactly one flow in five wins, spread over every window of 50 flows', () => {
    const results = resultsOf(FLOWS);
    expect(winsInWindows(results)).toEqual({ least: 8, most: 12 });
    expect(results.filter((result) => result === 'won')).toHaveLength(FLOWS / 5);
    expect(isMixed(winsInWindows(results))).toBe(true);
  });

  test('runs with the same seed have the same winning flows', () => {
    expect(resultsOf(500)).toEqual(resultsOf(500));
    expect(resultsOf(500, createWinSequence(createRandom(2)))).not.toEqual(resultsOf(500));
  });

  test('the count of wins includes the last window', () => {
    const losses = Array.from({ length: WINDOW }, (): FlowResult => 'lost');
    expect(winsInWindows(losses.slice(1))).toBeUndefined();
    expect(winsInWindows(losses)).toEqual({ least: 0, most: 0 });
    expect(winsInWindows([...losses, 'won', 'won', 'won'])).toEqual({ least: 0, most: 3 });
    expect(winsInWindows(['won', ...losses])).toEqual({ least: 0, most: 1 });
  });

  test('a run is not mixed if all wins come last', () => {
    const blocked = [...Array(2_000).fill('lost'), ...Array(500).fill('won')] as FlowResult[];
    expect(isMixed(winsInWindows(blocked))).toBe(false);
    const failed = resultsOf(500).map((result) => (result === 'won' ? 'failed' : result));
    expect(isMixed(winsInWindows(failed))).toBe(false);
    expect(isMixed(winsInWindows(resultsOf(WINDOW - 1)))).toBe(false);
  });
});

describe('the players of a run', () => {
  const PROGRAMS = Array.from({ length: 20 }, (_, program) => ({
    programId: String(program),
    testKey: '',
    playerRefs: Array.from({ length: 10 }, (__, player) => `${program}-${player}`),
    challengeIds: Array.from({ length: 30 }, (__, challenge) => `${program}-${challenge}`),
    roundId: '',
  }));
  const PLAYERS = 200;

  test('a player wins a challenge at most once', () => {
    const random = createRandom(3);
    const isNextWin = createWinSequence();
    const pool = createPlayerPool(PROGRAMS, createRandom(1));
    const inFlight: Assignment[] = [];
    const won = new Set<string>();
    const wins = new Map<string, number>();
    for (let flow = 0; flow < PLAYERS * (LOSSES_PER_WIN + 1) * 20; flow += 1) {
      // Flows end in any order.
      if (inFlight.length === 64) inFlight.splice(Math.floor(random() * 64), 1)[0]?.release();
      const winsNow = isNextWin();
      const assignment = pool.take(winsNow ? 'win' : 'loss');
      const { playerRef } = assignment.player;
      expect(inFlight.some(({ player }) => player.playerRef === playerRef)).toBe(false);
      expect(won.has(`${playerRef} ${assignment.challengeId}`)).toBe(false);
      if (winsNow) {
        won.add(`${playerRef} ${assignment.challengeId}`);
        wins.set(playerRef, (wins.get(playerRef) ?? 0) + 1);
      }
      inFlight.push(assignment);
    }
    expect(wins.size).toBe(PLAYERS);
    expect(Math.min(...wins.values())).toBeGreaterThanOrEqual(18);
    expect(Math.max(...wins.values())).toBeLessThanOrEqual(22);
  });

  test('an entry of a round leaves the challenges of its player unchanged', () => {
    const pool = createPlayerPool(PROGRAMS, () => 0);
    for (let entry = 0; entry < 10 * PLAYERS; entry += 1) pool.take('entry').release();
    expect(pool.take('win').challengeId).toMatch(/-0$/);
  });

  test('a player pool rejects more clients than players', () => {
    const pool = createPlayerPool(PROGRAMS, createRandom(1));
    for (let player = 0; player < PLAYERS; player += 1) pool.take('loss');
    expect(() => pool.take('win')).toThrow('more clients than players');
    const short = createPlayerPool(
      PROGRAMS.map((program) => ({ ...program, challengeIds: [] })),
      createRandom(1),
    );
    expect(() => short.take('loss')).toThrow('too few challenges');
  });
});
