import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prettyJson } from './pretty-json.ts';

test('the digits of a number are shown unchanged', () => {
  expect(prettyJson('{"amount":25.00,"list":[1e3,{}],"none":[]}')).toBe(
    '{\n  "amount": 25.00,\n  "list": [\n    1e3,\n    {}\n  ],\n  "none": []\n}',
  );
});

test('JSON is indented as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(prettyJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('a text that is not JSON is shown unchanged', () => {
  expect(prettyJson('{"event":')).toBe('{"event":');
});
