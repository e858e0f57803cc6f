import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFairSlots,
  type FairSlots,
  healthAfterSuccess,
  type KnownHealth,
  MAX_KNOWN_SUBJECTS,
  type SubjectHealth,
} from './fair-slots.ts';

const SUBJECTS = 12;
const namesOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`);
const health = fc.constantFrom<KnownHealth>('proven', 'slow', 'failing');
const limits = fc.record({
  total: fc.integer({ min: 1, max: 24 }),
  perSubject: fc.integer({ min: 1, max: 5 }),
  perDoubtfulSubject: fc.integer({ min: 1, max: 5 }),
});

/** Ends one run of each subject with this health. */
function setHealth(slots: FairSlots, subjects: readonly string[], ended: KnownHealth): void {
  for (const subject of subjects) {
    if (!slots.take(subject)) throw new Error(`${subject} has no slot`);
    slots.end(subject, ended);
  }
}

/** Takes every slot that the subjects may have, one each in turn. */
function takeAll(slots: FairSlots, subjects: readonly string[]): void {
  while (subjects.filter((subject) => slots.take(subject)).length > 0);
}

test.each([
  [0, 'proven'],
  [999.9, 'proven'],
  [1_000, 'slow'],
] as const)('a subject whose last run succeeded after %d ms is %s', (durationMs, ended) => {
  expect(healthAfterSuccess(durationMs)).toBe(ended);
});

describe('laws of fair slots', () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), subject: fc.nat(SUBJECTS - 1) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('give back' as const), which: fc.nat() }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(), ended: health }) },
    ),
    { maxLength: 300 },
  );

  test('a slot is taken exactly if the total, the subject’s share and its health’s share allow that', () => {
    fc.assert(
      fc.property(limits, steps, (limit, history) => {
        const slots = createFairSlots(limit);
        const healths = new Map<string, KnownHealth>();
        const held: string[] = [];
        const healthOf = (subject: string) => healths.get(subject) ?? 'untried';
        const heldBy = (...of: readonly SubjectHealth[]) => held.filter((one) => of.includes(healthOf(one))).length;
        const atLeastOne = (count: number) => Math.max(1, count);

        /** The rule at the head of fair-slots.ts, over the list of all held slots. */
        function hasRoom(subject: string): boolean {
          const of = healthOf(subject);
          const own = held.filter((one) => one === subject).length;
          if (held.length >= limit.total) return false;
          if (of === 'proven') return own < limit.perSubject;
          const isHalfFull = heldBy('slow', 'failing') >= atLeastOne(Math.floor(limit.total / 2));
          const areMostFull = heldBy('slow', 'failing', 'untried') >= atLeastOne(Math.floor((limit.total * 7) / 8));
          if (of === 'untried') return own < limit.perDoubtfulSubject && !areMostFull;
          return own < (of === 'slow' ? limit.perSubject : limit.perDoubtfulSubject) && !isHalfFull && !areMostFull;
        }

        for (const step of history) {
          if (step.kind === 'take') {
            const subject = String(step.subject);
            const isFree = hasRoom(subject);
            expect(slots.take(subject)).toBe(isFree);
            if (isFree) held.push(subject);
          } else {
            const [subject] = held.splice(step.which % Math.max(1, held.length), 1);
            if (subject === undefined) continue;
            if (step.kind === 'give back') slots.giveBack(subject, 1);
            else {
              healths.set(subject, step.ended);
              slots.end(subject, step.ended);
            }
          }
          expect(slots.held).toBe(held.length);
        }
      }),
    );
  });

  test('subjects whose runs never end leave an eighth of the slots to a proven subject', () => {
    const counts = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(limits, counts, counts, (limit, untried, known) => {
        fc.pre(limit.total >= 2);
        const slots = createFairSlots(limit);
        const [failing, slow] = [namesOf('failing', known), namesOf('slow', known)];
        setHealth(slots, failing, 'failing');
        setHealth(slots, slow, 'slow');
        setHealth(slots, ['proven'], 'proven');
        takeAll(slots, [...failing, ...slow]);
        expect(slots.held).toBeLessThanOrEqual(Math.floor(limit.total / 2));
        takeAll(slots, namesOf('untried', untried));
        const before = slots.held;
        takeAll(slots, ['proven']);
        expect(slots.held - before).toBeGreaterThanOrEqual(Math.min(limit.perSubject, Math.ceil(limit.total / 8)));
      }),
    );
  });

  test('every subject gets a turn on a single slot, however the earlier runs ended', () => {
    const slots = createFairSlots({ total: 1, perSubject: 4, perDoubtfulSubject: 1 });
    for (const ended of ['failing', 'slow', 'proven'] as const) setHealth(slots, ['a', 'b', 'c'], ended);
    expect(slots.held).toBe(0);
  });
});

describe('subjects that are forgotten', () => {
  const LIMITS = { total: 8, perSubject: 4, perDoubtfulSubject: 1 };
  const others = namesOf('other', MAX_KNOWN_SUBJECTS);

  test('the subject whose run ended first is forgotten if too many others are known', () => {
    const slots = createFairSlots(LIMITS);
    setHealth(slots, ['first', ...others.slice(1)], 'proven');
    takeAll(slots, ['first']);
    expect(slots.held).toBe(LIMITS.perSubject);
    slots.giveBack('first', LIMITS.perSubject);
    setHealth(slots, ['last'], 'proven');
    takeAll(slots, ['first']);
    expect(slots.held).toBe(LIMITS.perDoubtfulSubject);
  });

  test('the slots of a forgotten subject count as those of an untried subject until their release', () => {
    const slots = createFairSlots(LIMITS);
    setHealth(slots, ['slow'], 'slow');
    takeAll(slots, ['slow']);
    expect(slots.held).toBe(4);
    setHealth(slots, others.slice(1), 'proven');
    setHealth(slots, ['late'], 'slow');
    // The forgotten subject's four slots count as untried. So all four of slow subjects are free,
    // and three of the seven that are not reserved for proven ones.
    takeAll(slots, ['late']);
    expect(slots.held).toBe(7);
    slots.giveBack('slow', 4);
    takeAll(slots, namesOf('untried', 8));
    expect(slots.held).toBe(7);
  });
});
