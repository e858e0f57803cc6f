import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { pathTreeOf, spansAt, textAt } from './text-at.ts';

type Path = readonly string[];

/** Every path of a document, and some that lead nowhere. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [
    path,
    [...path, 'nowhere'],
    [...path, '00'],
    ...children.flatMap(([name, child]) => pathsOf(child, [...path, name])),
  ];
}

test('a search for many paths finds the same texts as one search for each path', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom(undefined, 1, '\t'),
      fc.nat(),
      (document, indent, seed) => {
        const text = JSON.stringify(document, null, indent);
        const paths = pathsOf(document).filter((_path, place) => (place + seed) % 3 > 0);
        const spans = spansAt(text, pathTreeOf([null, ...paths, ...paths]));
        for (const [index, path] of [...paths, ...paths].entries()) {
          const span = spans.get(index + 1);
          expect(span && text.slice(span.start, span.end)).toBe(textAt(text, path));
        }
        expect(spans.has(0)).toBe(false);
      },
    ),
  );
});

test('the text of a value is read once, however many paths lead to it', () => {
  const text = JSON.stringify({ first: 'x'.repeat(10_000), list: Array(100).fill({ a: 'y'.repeat(100) }), last: 1 });
  const paths = Array.from(
    { length: 1_400 },
    (_, place) => [['first'], ['last'], ['list', '99', 'a'], ['none']][place % 4] ?? [],
  );
  const tree = pathTreeOf(paths);
  const charCodeAt = vi.spyOn(String.prototype, 'charCodeAt');
  const spans = spansAt(text, tree);
  const characters = charCodeAt.mock.calls.length;
  charCodeAt.mockRestore();
  expect(spans.size).toBe(1_050);
  expect(characters).toBeGreaterThan(text.length / 2);
  expect(characters).toBeLessThan(2 * text.length);
});
