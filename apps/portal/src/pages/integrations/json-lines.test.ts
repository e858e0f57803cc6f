import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PointerFailure } from '../../api/api-types.ts';
import { lineAt, linesOf, placeInDescriptor, placeInSample, tokensOf } from './json-lines.ts';

test('every value is shown in the lines that JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = linesOf(value).map((line) => line.text);
      expect(text.join('\n')).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

describe('the line of a failure', () => {
  const descriptor = {
    version: 1,
    map: { records: '/events', score: { pointer: '/run/points', as: 'numeric_string' } },
  };
  const sample = { events: [{ run: { points: '3' } }, { run: { pointz: '4' } }] };
  const failure: PointerFailure = {
    pointer: '/run/points',
    field: 'map.score',
    message: 'names nothing in the record',
  };
  const textAt = (value: unknown, path: readonly string[]) => {
    const lines = linesOf(value);
    return lines[lineAt(lines, path)]?.text.trim();
  };

  test('a failure in the descriptor is shown at the member that its pointer names', () => {
    expect(textAt(descriptor, placeInDescriptor(failure))).toBe('"score": {');
  });

  test('a failure in the sample is shown at the nearest value that exists', () => {
    const place = placeInSample(descriptor, sample, failure, 1);
    expect(place).toEqual(['events', '1', 'run', 'points']);
    const lines = linesOf(sample);
    expect(lines[lineAt(lines, place)]).toEqual({ text: '      "run": {', path: ['events', '1', 'run'] });
    expect(textAt(sample, placeInSample(descriptor, sample, failure, 0))).toBe('"points": "3"');
  });

  test('a failure to find the records is shown by its path from the start of the body', () => {
    const missing = { ...failure, pointer: '/evts', field: 'map.records' };
    expect(placeInSample(descriptor, sample, missing)).toEqual(['evts']);
    expect(textAt(sample, ['evts'])).toBe('{');
  });

  test('a failure of a record is shown by its path from the start of the body or of its list item', () => {
    expect(placeInSample({}, { score: 1 }, { ...failure, pointer: '/attempt_id' }, 0)).toEqual(['attempt_id']);
    expect(placeInSample({}, [{ score: 1 }], { ...failure, pointer: '/attempt_id' }, 0)).toEqual(['0', 'attempt_id']);
  });

  test('a pointer escapes / and ~ in a name as ~1 and ~0', () => {
    expect(tokensOf('/a~1b/c~0d/~01')).toEqual(['a/b', 'c~d', '~1']);
    expect(tokensOf('')).toEqual([]);
  });
});
