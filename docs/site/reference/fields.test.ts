import { expect, test } from 'vitest';
import type { OpenApi, Schema } from './document.ts';
import { fieldTables, typeName } from './fields.ts';

const DOCUMENT: OpenApi = {
  paths: {},
  webhooks: {},
  components: {
    schemas: {
      Prize: {
        type: 'object',
        properties: { amount: { type: 'string', description: 'With two | places' } },
        required: ['amount'],
      },
    },
  },
};

const rowsOf = (schema: Schema) => fieldTables(DOCUMENT, schema).trim().split('\n').slice(2);

test('the fields of a schema are listed at every depth, across references and in lists', () => {
  const schema: Schema = {
    type: 'object',
    required: ['data'],
    properties: {
      data: { type: 'array', items: { type: 'object', properties: { prize: { $ref: '#/components/schemas/Prize' } } } },
    },
  };
  expect(rowsOf(schema)).toEqual([
    '| `data` | list of object |  |',
    '| `data[].prize` <span class="optional">optional</span> | object |  |',
    '| `data[].prize.amount` | string | With two \\| places |',
  ]);
});

test('the parts of an allOf are one table, with what the later part adds', () => {
  const schema: Schema = {
    allOf: [{ $ref: '#/components/schemas/Prize' }],
    properties: { note: { type: ['string', 'null'] } },
  };
  expect(rowsOf(schema)).toEqual([
    '| `amount` | string | With two \\| places |',
    '| `note` <span class="optional">optional</span> | string or null |  |',
  ]);
});

test('a oneOf of two objects has a table for each', () => {
  const one = { type: 'object', properties: { a: { type: 'boolean' } } };
  const other = { type: 'object', properties: { b: { type: 'boolean' } } };
  expect(fieldTables(DOCUMENT, { anyOf: [one, other] })).toMatch(/^One of these:[\s\S]*`a`[\s\S]*Or:[\s\S]*`b`/);
});

test.each<[Schema, string]>([
  [{ type: 'string', format: 'uuid' }, 'uuid'],
  [{ type: 'string', minLength: 1, maxLength: 255 }, 'string of 1 to 255 characters'],
  [{ type: 'integer', minimum: 30 }, 'integer of at least 30'],
  [{ enum: ['paid', 'held'] }, '`paid`, `held`'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
])('%j reads as %s', (schema, name) => {
  expect(typeName(DOCUMENT, schema)).toBe(name);
});
