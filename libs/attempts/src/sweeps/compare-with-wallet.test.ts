import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Comparison, compareWithWallet, type Violation } from './compare-with-wallet.ts';

type Rows = Readonly<Record<string, number>>;

const anyRows = fc.dictionary(
  fc.integer({ min: 1, max: 40 }).map((id) => String(id).padStart(3, '0')),
  fc.integer({ min: 0, max: 2 }),
  { maxKeys: 25 },
);

function pageOf(rows: Rows, after: string, size: number): [string, number][] {
  const ids = Object.keys(rows).sort();
  return ids
    .filter((id) => id > after)
    .slice(0, size)
    .map((id) => [id, rows[id] ?? -1]);
}

/** All slices, one after the other. */
async function compareAll<Ours, Theirs>(comparison: Comparison<Ours, Theirs, 'same'>): Promise<Violation<'same'>[]> {
  const found: Violation<'same'>[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const slice: Awaited<ReturnType<typeof compareWithWallet<Ours, Theirs, 'same'>>> = await compareWithWallet(
      comparison,
      after,
    );
    found.push(...slice.violations);
    after = slice.until;
  }
  return found;
}

describe('the comparison with the wallet', () => {
  it('the comparison with the wallet finds exactly the ids whose rows differ, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRows,
        anyRows,
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (ours, theirs, size, final) => {
          const found = await compareAll({
            pageSize: size,
            readOurs: async (after) => new Map(pageOf(ours, after, size)),
            rereadOurs: async (ids) =>
              new Map(ids.flatMap((id) => (id in ours ? [[id, ours[id] ?? -1] as const] : []))),
            readTheirs: async (after) => pageOf(theirs, after, size).map(([id, row]) => ({ id, row })),
            judge: (mine, other) => (mine === other ? null : { check: 'same', final: final && mine !== null }),
          });
          const ids = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort();
          const differing = ids.filter((id) => ours[id] !== theirs[id]);
          expect(found.map(({ id }) => id).sort()).toEqual(differing);
        },
      ),
    );
  });

  it('the comparison with the wallet drops an unproven finding when our row has caught up', async () => {
    const judge = (ours: string | null, theirs: string | null) =>
      ours === theirs ? null : ({ check: 'same', final: false } as const);
    const found = await compareAll({
      pageSize: 10,
      readOurs: async () =>
        new Map([
          ['1', 'open'],
          ['2', 'open'],
        ]),
      readTheirs: async () => ['1', '2'].map((id) => ({ id, row: 'ended' })),
      rereadOurs: async () =>
        new Map([
          ['1', 'ended'],
          ['2', 'open'],
        ]),
      judge,
    });
    expect(found).toEqual([{ check: 'same', id: '2' }]);
  });
});
