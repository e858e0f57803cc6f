// The drift monitor follows challenges whose true pass rate is known. Pure functions and a seed.
import { claimOf, follow } from '@laurel/challenge/domain/drift-monitor';
import { SEED, type Table } from './bar-intervals.ts';
import { createRandom } from './mix.ts';

const START = { attempts: 0, passes: 0 };
const ATTEMPTS = 20_000;
/**
 * The most suspended challenges of a thousand within the band; the bound on the error allows one on
 * average.
 */
const MOST_SUSPENDED = 2;
const TARGET = 0.2;
/**
 * The attempts within which the monitor must find this factor of the claimed rate, in 95 % of
 * challenges.
 */
const FOUND_WITHIN = [
  { name: 'three times', factor: 3, attempts: 150 },
  { name: 'twice', factor: 2, attempts: 1_000 },
  { name: 'a third', factor: 1 / 3, attempts: 1_000 },
];

export function measureDrift(challenges: number): { readonly tables: readonly Table[]; readonly isWithin: boolean } {
  const random = createRandom(SEED);
  const outcomes: boolean[] = Array<boolean>(ATTEMPTS).fill(false);
  const suspendedAt = (rate: number, target: number) => {
    for (let index = 0; index < ATTEMPTS; index += 1) outcomes[index] = random() < rate;
    return follow(START, outcomes, target).rejectedAt?.attempts ?? null;
  };

  let isWithin = true;
  const honest: Table = [[`${challenges} challenges of ${ATTEMPTS} attempts`, 'target', 'suspended']];
  for (const target of [0.05, TARGET, 0.5, 0.8]) {
    const { low, high } = claimOf(target);
    for (const [name, rateOf] of [
      ['at the target', () => target],
      ['anywhere in the band', () => low + (high - low) * random()],
      ['at its lower edge', () => low],
      ['at its upper edge', () => high],
    ] as const) {
      const suspended = Array.from({ length: challenges }, () => suspendedAt(rateOf(), target)).filter(
        (attempts) => attempts !== null,
      ).length;
      isWithin &&= suspended <= (MOST_SUSPENDED * challenges) / 1_000;
      honest.push([name, target, suspended]);
    }
  }

  const drifted: Table = [[`${challenges} challenges, target ${TARGET}`, 'suspended', 'within, 50 %', 'within, 95 %']];
  for (const { name, factor, attempts } of FOUND_WITHIN) {
    const found = Array.from({ length: challenges }, () => suspendedAt(TARGET * factor, TARGET) ?? ATTEMPTS + 1);
    const ascending = found.toSorted((one, other) => one - other);
    const within = (share: number) => ascending[Math.ceil(share * challenges) - 1] ?? 0;
    isWithin &&= within(0.95) <= attempts;
    const suspended = found.filter((one) => one <= ATTEMPTS).length;
    drifted.push([`${name} the claimed rate`, suspended, within(0.5), within(0.95)]);
  }
  return { tables: [honest, drifted], isWithin };
}
