/** A clock that shows one time until a test moves it. */
export type TestClock = { (): Date; advance(ms: number): void };

export function createTestClock(): TestClock {
  let now = Date.now();
  return Object.assign(() => new Date(now), {
    advance(ms: number) {
      now += ms;
    },
  });
}
