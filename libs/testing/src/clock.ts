/** A clock that shows one time until a test moves it. */
export type TestClock = { (): Date; advance(ms: number): void };

export function createTestClock(startsAt = new Date()): TestClock {
  let now = startsAt.getTime();
  return Object.assign(() => new Date(now), {
    advance(ms: number) {
      now += ms;
    },
  });
}
